"""Calls against the running service, and against servers that fail."""

import json
import threading
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler
from typing import Any

import pytest

from tracked_wallets import AnsweredCall, Refused, TrackedWalletsError

from .conftest import Ask, Asker, Service
from .local_server import serving


def test_every_resource_answers(ask: Ask) -> None:
    newest = ask("trades", limit=1).items[0]
    mint, alias = newest.mint, newest.wallet
    answers = {
        "wallets": ask("wallets", page=1).items[0].identity.wallet,
        "leaderboard": ask("wallets", sort="pnl", period="7d", mode="strict").page_size,
        "wallet_metrics": ask("wallet_metrics", alias).identity.wallet,
        "wallet_trades": ask("wallet_trades", alias, limit=2).items[0].wallet,
        "wallet_positions": ask("wallet_positions", alias, status="all", limit=1).wallet,
        "wallet_pnl": ask("wallet_pnl", alias, interval="1h", mode="strict").interval,
        "wallet_holdings": ask("wallet_holdings", alias).wallet,
        "holdings": ask("holdings", alias=alias, max_holding_seconds=9_999_999).alias,
        "held_tokens": ask("held_tokens", min_wallets=3).min_wallets,
        "token": ask("token", mint).token.address,
        "token_swaps": ask("token_swaps", mint, limit=1).items[0].base_mint,
        "token_aggregates": ask("token_aggregates", mint).mint,
        "filtered": ask("trades", mint=mint, side=newest.side, from_=newest.block_time).count > 0,
        "sol_price": ask("sol_price", at=newest.block_time).at,
        "search": ask("search", alias).items[0].wallet,
        "account": ask("account").limits.requests_per_minute,
        "status": ask("status").ingest.slot > 0,
    }
    assert answers == {
        "wallets": "W1",
        "leaderboard": 25,
        "wallet_metrics": alias,
        "wallet_trades": alias,
        "wallet_positions": alias,
        "wallet_pnl": "1h",
        "wallet_holdings": alias,
        "holdings": alias,
        "held_tokens": 3,
        "token": mint,
        "token_swaps": mint,
        "token_aggregates": mint,
        "filtered": True,
        "sol_price": newest.block_time,
        "search": alias,
        "account": None,
        "status": True,
    }


def test_iterations_read_every_page_once(ask: Ask) -> None:
    wallets = [one.identity.wallet for one in ask("each_wallet")]
    assert wallets == [f"W{n}" for n in range(1, len(wallets) + 1)]
    assert len(wallets) == ask("wallets").total
    newest = ask("trades", limit=50)
    alias = Counter(one.wallet for one in newest.items).most_common(1)[0][0]
    mint = newest.items[0].mint
    end = newest.items[0].block_time
    start = newest.items[-1].block_time
    whole = ask("each_trade", wallet=alias, from_=start, to=end)
    assert whole == ask("each_trade", limit=2, wallet=alias, from_=start, to=end)
    assert {one.wallet for one in whole} == {alias}
    assert len(whole) > 2
    of_wallet = ask("each_wallet_trade", alias)
    assert [one for one in of_wallet if start <= one.block_time < end] == whole
    assert {one.base_mint for one in ask("each_token_swap", mint)} == {mint}
    positions = ask("each_wallet_position", alias, status="all", mode="strict", limit=1)
    assert len({one.token.address for one in positions}) == len(positions) > 0
    assert {one.wallet for one in ask("each_holding", alias=alias)} <= {alias}
    assert all(one.holders.wallet_count >= 2 for one in ask("each_held_token"))


def test_a_page_resumes_at_its_cursor(ask: Ask) -> None:
    end = ask("trades", limit=1).items[0].block_time
    both = ask("trades", limit=4, to=end)
    first = ask("trades", limit=2, to=end)
    second = ask("trades", limit=2, to=end, cursor=first.next_cursor)
    assert [*first.items, *second.items] == list(both.items)


def test_each_answer_tells_its_cost_and_the_balance(asker: Asker, service: Service) -> None:
    heard: list[AnsweredCall] = []
    ask = asker(service.url, service.api_key, on_answer=heard.append)
    before = ask("account")
    page = ask("trades", limit=1, wallet="W1")
    with pytest.raises(Refused) as refused:
        ask("wallet_metrics", "W999999")
    assert before.call.cost == refused.value.call.cost == 0
    assert (page.call.cost, page.call.balance) == (3, before.balance_credits - 3)
    assert heard == [before.call, page.call, refused.value.call]
    assert [one.path for one in heard] == [
        "/account",
        "/trades?limit=1&wallet=W1",
        "/wallets/W999999/metrics",
    ]
    assert len({one.request_id for one in heard}) == 3


def test_a_refusal_has_its_code_and_the_parameters_at_fault(asker: Asker, service: Service) -> None:
    def refusal(key: str, *question: Any, **query: Any) -> tuple[Any, ...]:
        with pytest.raises(Refused) as caught:
            asker(service.url, key)(*question, **query)
        error = caught.value
        assert error.request_id is not None
        assert key not in f"{error} {error!r}"
        assert all(fault.message in str(error) for fault in error.errors)
        faults = [(fault.in_, fault.name, fault.message) for fault in error.errors]
        return (error.status, error.code, faults)

    key = service.api_key
    assert refusal(key, "wallet_metrics", "W999999") == (404, "wallet_not_found", [])
    assert refusal(key, "wallet_metrics", "a/../b") == (404, "wallet_not_found", [])
    assert refusal(key, "trades", cursor="x") == (
        400,
        "invalid_cursor",
        [("query", "cursor", "expected the next_cursor of a previous answer")],
    )
    assert refusal("tw_no", "account") == (401, "unauthorized", [])
    expected_time = "expected unix seconds (not milliseconds) from 1577836800 to 4102444799"
    assert refusal(key, "trades", limit=0, from_=1) == (
        400,
        "invalid_parameter",
        [
            ("query", "limit", "expected an integer from 1 to 100"),
            ("query", "from", expected_time),
        ],
    )


@contextmanager
def failing(replies: list[Any]) -> Iterator[tuple[str, list[str]]]:
    """A server that gives each reply once, then 200: 'cut', 'silent', 'half', or a status.

    Yields its URL, and the paths that it was asked for.
    """
    asked: list[str] = []
    over = threading.Event()

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            asked.append(self.path)
            reply = replies.pop(0) if replies else 200
            self.close_connection = True
            if reply == "silent":
                over.wait(10)
            if reply in ("cut", "silent"):
                return
            body = b'{"code":"code of %d"}' % reply if reply not in (200, "half") else PRICE
            self.send_response(200 if reply == "half" else reply)
            if reply == 503:
                self.send_header("retry-after", "0")
            self.send_header("content-length", str(len(body) + (100 if reply == "half" else 0)))
            self.end_headers()
            self.wfile.write(body)

        def log_message(self, *_: object) -> None:
            pass

    with serving(Handler) as url:
        try:
            yield url, asked
        finally:
            over.set()


@contextmanager
def paged(pages: int) -> Iterator[tuple[str, list[str]]]:
    """A server of a list of so many pages, each with one token of no holders."""
    asked: list[str] = []

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            asked.append(self.path)
            page = int(self.path.rsplit("page=", 1)[1])
            item = {
                "token": {"address": f"token {page}", "decimals": 0},
                "holders": {"wallet_count": 0, "wallets": []},
                "aggregate": {"tokens_held": 0, "sol_invested": 0},
            }
            told = {"min_wallets": 4, "page": page, "page_size": 1, "total": pages}
            body = json.dumps({**told, "has_more": page < pages, "items": [item]}).encode()
            self.send_response(200)
            self.send_header("content-length", str(len(body)))
            self.end_headers()
            self.wfile.write(body)

        def log_message(self, *_: object) -> None:
            pass

    with serving(Handler) as url:
        yield url, asked


def test_an_address_that_is_none_is_refused_at_once(asker: Asker) -> None:
    with pytest.raises(ValueError, match="url: expected"):
        asker("example.com", "tw_any")


def test_a_list_by_page_is_read_to_its_last_page(asker: Asker) -> None:
    with paged(3) as (url, asked):
        found = asker(url, "tw_any")("each_held_token", min_wallets=4)
    assert [one.token.address for one in found] == ["token 1", "token 2", "token 3"]
    assert asked == [f"/tokens/held?min_wallets=4&page={page}" for page in (1, 2, 3)]


PRICE = b'{"at":null,"price_usd":7,"time":null,"age_seconds":null,"source":null,"new_field":1}'


@pytest.mark.parametrize(
    ("replies", "outcome", "count"),
    [
        (["cut", 503, "silent", "half", 200], 7, 5),
        ([408, 200], 7, 2),
        ([503] * 5, "code of 503", 5),
        (["cut"] * 5, "Unreachable", 5),
        ([404], "code of 404", 1),
        ([500], "code of 500", 1),
        ([302], "code of 302", 1),
    ],
)
def test_a_call_is_repeated_after_lost_connections_timeouts_408_and_503_alone(
    asker: Asker, replies: list[Any], outcome: Any, count: int
) -> None:
    with failing(list(replies)) as (url, asked):
        ask = asker(url, "tw_any", timeout=0.3, retry_seconds=0.001)
        try:
            got = ask("sol_price").price_usd
        except TrackedWalletsError as error:
            assert "tw_any" not in repr(error)
            got = error.code if isinstance(error, Refused) else type(error).__name__
    assert (got, asked) == (outcome, ["/prices/sol"] * count)
