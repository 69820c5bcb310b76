"""The client for programs with asyncio."""

import asyncio
from collections.abc import AsyncGenerator, Callable, Sequence
from itertools import count
from typing import Self, TypeVar, Unpack

import httpx
from websockets import ConnectionClosed, InvalidHandshake, InvalidStatus
from websockets.asyncio.client import connect

from . import calls, models
from .attempts import Options, answer_of, pause_before, unreachable
from .calls import (
    Call,
    Cursor,
    HeldTokensFilter,
    HeldTokensQuery,
    HoldingsFilter,
    HoldingsQuery,
    PageQuery,
    PositionsFilter,
    PositionsQuery,
    ProfitQuery,
    TradesPage,
    TradesQuery,
    WalletsFilter,
    WalletsQuery,
)
from .errors import Refused
from .feed import (
    HANDSHAKE_SECONDS,
    FeedEvent,
    FeedState,
    Notice,
    Reconnect,
)
from .model import Answer, AnsweredCall

T = TypeVar("T", bound=Answer)


class AsyncTrackedWallets:
    """Every product resource and the trade feed, for asyncio.

    Calls raise `Refused` on an error response and `Unreachable` when the service does not answer;
    before that they are repeated after lost connections, timeouts and 503.

    `url` is the base URL of the service, for example `http://127.0.0.1:8080`. `timeout` is the
    longest time without progress of one attempt, and `retry_seconds` the first pause before a
    repetition, which doubles; both in seconds. A 503 costs nothing. An answer that is lost on the
    way has its price, and so has the repeated call. `on_answer` gets each answer, refusals too.
    """

    def __init__(
        self,
        url: str,
        api_key: str,
        *,
        timeout: float = 30.0,
        retries: int = 4,
        retry_seconds: float = 0.25,
        on_answer: Callable[[AnsweredCall], None] | None = None,
    ) -> None:
        self._options = Options(url, api_key, timeout, retries, retry_seconds, on_answer)
        self._http = httpx.AsyncClient(
            base_url=self._options.base_url, headers=self._options.headers, timeout=timeout
        )

    async def aclose(self) -> None:
        """Closes the connections of calls. Feeds end on their own."""
        await self._http.aclose()

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(self, *_: object) -> None:
        await self.aclose()

    async def wallets(self, **query: Unpack[WalletsQuery]) -> models.WalletsAnswer:
        """`GET /wallets`: W1 to Wn, or with more than a page a leaderboard."""
        return await self._ask(calls.wallets(query))

    async def wallet_metrics(self, alias: str) -> models.WalletMetrics:
        """`GET /wallets/{alias}/metrics`."""
        return await self._ask(calls.wallet_metrics(alias))

    async def wallet_trades(self, alias: str, **query: Unpack[PageQuery]) -> models.TradesAnswer:
        """`GET /wallets/{alias}/trades`: a page of a wallet's trades, newest first."""
        return await self._ask(calls.wallet_trades(alias, query))

    async def wallet_positions(
        self, alias: str, **query: Unpack[PositionsQuery]
    ) -> models.PositionsAnswer:
        """`GET /wallets/{alias}/positions`: a page, the newest event first."""
        return await self._ask(calls.wallet_positions(alias, query))

    async def wallet_pnl(self, alias: str, **query: Unpack[ProfitQuery]) -> models.ProfitAnswer:
        """`GET /wallets/{alias}/pnl`: profit at full hours or days, and now."""
        return await self._ask(calls.wallet_pnl(alias, query))

    async def wallet_holdings(self, alias: str) -> models.WalletHoldingsAnswer:
        """`GET /wallets/{alias}/holdings`."""
        return await self._ask(calls.wallet_holdings(alias))

    async def holdings(self, **query: Unpack[HoldingsQuery]) -> models.HoldingsAnswer:
        """`GET /wallets/holdings`."""
        return await self._ask(calls.holdings(query))

    async def held_tokens(self, **query: Unpack[HeldTokensQuery]) -> models.HeldTokensAnswer:
        """`GET /tokens/held`."""
        return await self._ask(calls.held_tokens(query))

    async def token(self, mint: str) -> models.TokenAnswer:
        """`GET /tokens/{mint}`: facts, price, holders and activity of a token."""
        return await self._ask(calls.token(mint))

    async def token_swaps(self, mint: str, **query: Unpack[PageQuery]) -> models.TokenSwapsAnswer:
        """`GET /tokens/{mint}/swaps`."""
        return await self._ask(calls.token_swaps(mint, query))

    async def token_aggregates(self, mint: str) -> models.WalletAggregatesAnswer:
        """`GET /tokens/{mint}/wallet-aggregates`."""
        return await self._ask(calls.token_aggregates(mint))

    async def trades(self, **query: Unpack[TradesQuery]) -> TradesPage:
        """`GET /trades`: a page, newest first, with the `head` to follow the feed from."""
        return await self._ask(calls.trades(query))

    async def sol_price(self, at: int | None = None) -> models.SolPriceAnswer:
        """`GET /prices/sol`: SOL in USD at a time (unix seconds), by default now."""
        return await self._ask(calls.sol_price(at))

    async def search(self, q: str) -> models.SearchAnswer:
        """`GET /search`: wallets and tokens, at most 20, best first."""
        return await self._ask(calls.search(q))

    async def account(self) -> models.AccountAnswer:
        """`GET /account`: balance, plan, limits and usage of the key's account; free."""
        return await self._ask(calls.account())

    async def status(self) -> models.StatusAnswer:
        """`GET /status`: how far each stage of the service is; free."""
        return await self._ask(calls.status())

    async def each_trade(self, **query: Unpack[TradesQuery]) -> AsyncGenerator[models.Trade, None]:
        """All trades that match, newest first. Each page is charged when it is read."""
        cursor: Cursor = {}
        while True:
            page = await self._ask(calls.trades({"limit": 100, **query, **cursor}))
            for item in page.items:
                yield item
            if page.next_cursor is None:
                return
            cursor = {"cursor": page.next_cursor}

    async def each_wallet_trade(self, alias: str) -> AsyncGenerator[models.Trade, None]:
        """All trades of a wallet, as `each_trade`."""
        cursor: Cursor = {}
        while True:
            page = await self._ask(calls.wallet_trades(alias, {"limit": 100, **cursor}))
            for item in page.items:
                yield item
            if page.next_cursor is None:
                return
            cursor = {"cursor": page.next_cursor}

    async def each_wallet_position(
        self, alias: str, **query: Unpack[PositionsFilter]
    ) -> AsyncGenerator[models.WalletPosition, None]:
        """All positions that match, as `each_trade`; without those that trade meanwhile."""
        cursor: Cursor = {}
        while True:
            page = await self._ask(calls.wallet_positions(alias, {"limit": 200, **query, **cursor}))
            for item in page.items:
                yield item
            if page.next_cursor is None:
                return
            cursor = {"cursor": page.next_cursor}

    async def each_token_swap(self, mint: str) -> AsyncGenerator[models.Swap, None]:
        """All swaps of a token, as `each_trade`."""
        cursor: Cursor = {}
        while True:
            page = await self._ask(calls.token_swaps(mint, {"limit": 200, **cursor}))
            for item in page.items:
                yield item
            if page.next_cursor is None:
                return
            cursor = {"cursor": page.next_cursor}

    async def each_wallet(
        self, **query: Unpack[WalletsFilter]
    ) -> AsyncGenerator[models.RankedWallet, None]:
        """All wallets of a list. A leaderboard changes each hour."""
        for number in count(1):
            page = await self._ask(calls.wallets({**query, "page": number}))
            for item in page.items:
                yield item
            if not page.has_more:
                return

    async def each_holding(
        self, **query: Unpack[HoldingsFilter]
    ) -> AsyncGenerator[models.Holding, None]:
        """All holdings that match. A list that changes meanwhile may repeat or skip some."""
        for number in count(1):
            page = await self._ask(calls.holdings({**query, "page": number}))
            for item in page.items:
                yield item
            if not page.has_more:
                return

    async def each_held_token(
        self, **query: Unpack[HeldTokensFilter]
    ) -> AsyncGenerator[models.HeldToken, None]:
        """All tokens that several wallets hold, as `each_holding`."""
        for number in count(1):
            page = await self._ask(calls.held_tokens({**query, "page": number}))
            for item in page.items:
                yield item
            if not page.has_more:
                return

    async def follow(
        self,
        *,
        wallets: Sequence[str] | None = None,
        mints: Sequence[str] | None = None,
        after: str | None = None,
        retry_seconds: float = 0.25,
        silence_seconds: float = 15.0,
        on_notice: Callable[[Notice], None] | None = None,
    ) -> AsyncGenerator[FeedEvent, None]:
        """Trades live, from now or after a position, over lost connections and restarts.

        `after` is the `id` of an event, or `head` of `trades()`. Each trade comes once, for a
        credit; one that is lost on the way is sent and charged again. `retry_seconds` is the first
        pause before a reconnect, and doubles five times. A connection that is silent for
        `silence_seconds`, though the service was asked, is cut; below 3 it asks too often. To
        follow other wallets, end the iteration and call this again with the last `id`. Reconnects
        until it is ended; raises `FeedEnded` when that would not help.
        """
        feed = FeedState(
            wallets=wallets,
            mints=mints,
            after=after,
            retry_seconds=retry_seconds,
            silence_seconds=silence_seconds,
            on_notice=on_notice,
        )
        while True:
            try:
                async with connect(
                    self._options.feed_url,
                    additional_headers=self._options.headers,
                    open_timeout=HANDSHAKE_SECONDS,
                    ping_interval=None,  # `ask` does it, only while the program waits
                    close_timeout=1,
                ) as socket:
                    await socket.send(feed.subscription())
                    while True:
                        try:
                            async with asyncio.timeout(feed.ping_seconds):
                                text = await socket.recv()
                        except TimeoutError:
                            await socket.send(feed.ask())
                            continue
                        event = feed.take(text)
                        if event is not None:
                            yield event
            except InvalidStatus as refused:
                feed.check_refusal(refused.response.status_code, refused.response.body or b"")
            except (OSError, EOFError, ConnectionClosed, InvalidHandshake, Reconnect):
                pass  # TimeoutError is an OSError
            await asyncio.sleep(feed.pause_after_cut())

    async def _ask(self, call: Call[T]) -> T:
        for attempt in count():
            error: Exception
            try:
                response = await self._http.get(call.path, params=call.query)
                return answer_of(call, response, self._options)
            except httpx.TransportError as cause:
                error = unreachable(cause)
                error.__cause__ = cause
            except Refused as refused:
                error = refused
            pause = pause_before(attempt, self._options, error)
            if pause is None:
                raise error
            await asyncio.sleep(pause)
        raise AssertionError("a count has no end")
