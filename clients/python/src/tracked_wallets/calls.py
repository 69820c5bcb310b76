"""The calls of the API as values, which both clients send."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, Generic, Literal, TypedDict, TypeVar
from urllib.parse import quote

from . import models
from .model import Answer

T = TypeVar("T", bound=Answer)
Mode = Literal["raw", "strict"]


class TradesPage(models.TradesAnswer):
    """A page of `GET /trades`."""

    head: str
    """Position from which the feed goes on without gap or repetition: `follow(after=head)`."""


class PageQuery(TypedDict, total=False):
    """A page of a list that is read by cursor."""

    limit: int
    cursor: str
    """`next_cursor` of the previous page."""


class Cursor(TypedDict, total=False):
    """Where a page begins; empty for the first one."""

    cursor: str


class TradesQuery(TypedDict, total=False):
    """Which trades are listed; all by default."""

    limit: int
    wallet: str
    mint: str
    side: Literal["buy", "sell"]
    from_: int
    """Unix seconds, inclusive."""
    to: int
    """Unix seconds, exclusive."""
    cursor: str
    """Only older trades than this position: `next_cursor`, `head`, or `oldest` of a gap."""


class WalletsFilter(TypedDict, total=False):
    """A leaderboard of wallets; without any of these, all wallets are listed, W1 to Wn."""

    sort: Literal["score", "pnl", "winrate", "trades", "volume"]
    order: Literal["desc", "asc"]
    status: Literal["scored", "review", "disqualified"]
    min_trades: int
    period: Literal["7d", "30d", "all"]
    mode: Mode


class WalletsQuery(WalletsFilter, total=False):
    """A page of wallets."""

    page: int


class PositionsFilter(TypedDict, total=False):
    """Which positions are listed, and how they are folded; open ones with transfers by default."""

    status: Literal["open", "closed", "all"]
    mode: Mode
    limit: int


class PositionsQuery(PositionsFilter, total=False):
    """A page of positions."""

    cursor: str


class ProfitQuery(TypedDict, total=False):
    """The points of profit."""

    interval: Literal["1h", "1d"]
    from_: int
    """Unix seconds, inclusive; by default 30 days before the end."""
    to: int
    """Unix seconds, exclusive."""
    mode: Mode


class HoldingsFilter(TypedDict, total=False):
    """Which holdings are listed; all by default."""

    alias: str
    min_holding_seconds: int
    max_holding_seconds: int


class HoldingsQuery(HoldingsFilter, total=False):
    """A page of holdings."""

    page: int


class HeldTokensFilter(TypedDict, total=False):
    """Which tokens are listed."""

    min_wallets: int


class HeldTokensQuery(HeldTokensFilter, total=False):
    """A page of tokens."""

    page: int


@dataclass(frozen=True)
class Call(Generic[T]):
    """A `GET` of the API and the form of its answer."""

    path: str
    query: Mapping[str, Any]
    answer: type[T]
    headers: Mapping[str, str]
    """Fields of the answer by the header that has them."""


def call_of(
    answer: type[T],
    path: str,
    query: Mapping[str, Any] | None = None,
    headers: Mapping[str, str] | None = None,
) -> Call[T]:
    """A call. A trailing `_` of a parameter's name, which Python needs, is not sent."""
    values = {name.rstrip("_"): value for name, value in (query or {}).items()}
    sent = {name: value for name, value in values.items() if value is not None}
    return Call(path, sent, answer, headers or {})


def segment(text: str) -> str:
    """A text as one segment of a path."""
    return quote(text, safe="")


def wallets(query: WalletsQuery) -> Call[models.WalletsAnswer]:
    return call_of(models.WalletsAnswer, "/wallets", query)


def wallet_metrics(alias: str) -> Call[models.WalletMetrics]:
    return call_of(models.WalletMetrics, f"/wallets/{segment(alias)}/metrics")


def wallet_trades(alias: str, query: PageQuery) -> Call[models.TradesAnswer]:
    return call_of(models.TradesAnswer, f"/wallets/{segment(alias)}/trades", query)


def wallet_positions(alias: str, query: PositionsQuery) -> Call[models.PositionsAnswer]:
    return call_of(models.PositionsAnswer, f"/wallets/{segment(alias)}/positions", query)


def wallet_pnl(alias: str, query: ProfitQuery) -> Call[models.ProfitAnswer]:
    return call_of(models.ProfitAnswer, f"/wallets/{segment(alias)}/pnl", query)


def wallet_holdings(alias: str) -> Call[models.WalletHoldingsAnswer]:
    return call_of(models.WalletHoldingsAnswer, f"/wallets/{segment(alias)}/holdings")


def holdings(query: HoldingsQuery) -> Call[models.HoldingsAnswer]:
    return call_of(models.HoldingsAnswer, "/wallets/holdings", query)


def held_tokens(query: HeldTokensQuery) -> Call[models.HeldTokensAnswer]:
    return call_of(models.HeldTokensAnswer, "/tokens/held", query)


def token(mint: str) -> Call[models.TokenAnswer]:
    return call_of(models.TokenAnswer, f"/tokens/{segment(mint)}")


def token_swaps(mint: str, query: PageQuery) -> Call[models.TokenSwapsAnswer]:
    return call_of(models.TokenSwapsAnswer, f"/tokens/{segment(mint)}/swaps", query)


def token_aggregates(mint: str) -> Call[models.WalletAggregatesAnswer]:
    return call_of(models.WalletAggregatesAnswer, f"/tokens/{segment(mint)}/wallet-aggregates")


def trades(query: TradesQuery) -> Call[TradesPage]:
    return call_of(TradesPage, "/trades", query, {"head": "x-head-cursor"})


def sol_price(at: int | None) -> Call[models.SolPriceAnswer]:
    return call_of(models.SolPriceAnswer, "/prices/sol", {"at": at})


def search(q: str) -> Call[models.SearchAnswer]:
    return call_of(models.SearchAnswer, "/search", {"q": q})


def account() -> Call[models.AccountAnswer]:
    return call_of(models.AccountAnswer, "/account")


def status() -> Call[models.StatusAnswer]:
    return call_of(models.StatusAnswer, "/status")


CALLS: tuple[Callable[..., Call[Any]], ...] = (
    wallets,
    wallet_metrics,
    wallet_trades,
    wallet_positions,
    wallet_pnl,
    wallet_holdings,
    holdings,
    held_tokens,
    token,
    token_swaps,
    token_aggregates,
    trades,
    sol_price,
    search,
    account,
    status,
)
"""Every call."""
