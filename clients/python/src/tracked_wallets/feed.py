"""The trade feed: what its messages mean, without input or output."""

import json
import random
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal, TypeAlias

from pydantic import ValidationError

from .errors import FeedEnded, UnexpectedAnswer
from .models import Trade

PARTS = 3
"""A silent service is asked after each part of the time after which the connection is cut."""
PING = '{"action":"ping"}'
HANDSHAKE_SECONDS = 10.0
MOST_DOUBLINGS = 5
HTTP_TOO_MANY, HTTP_SERVER_ERROR = 429, 500

FINAL = {
    "balance_exhausted": "no credits are left: top up, then resume from the last id",
    "superseded": "another program is connected with this key: stop one of the two",
    "key_rotated": "this key was replaced: use the new one",
    "key_deleted": "this key was deleted: use another one",
    "key_expired": "this key has expired: use another one",
    "account_disabled": "the operator of the service has disabled this account",
}
"""Reasons of a close after which reconnecting does not help (rules F5 to F7), and what does."""


@dataclass(frozen=True)
class TradeEvent:
    """A trade. `id` is the position after it: give that of the last trade handled as `after`."""

    id: str
    trade_id: str
    """Opaque name of the trade, the same whenever it is sent; a withdrawal says it too."""
    late: bool
    """Whether the trade belongs before trades that came already."""
    trade: Trade
    kind: Literal["trade"] = "trade"


@dataclass(frozen=True)
class RetractedEvent:
    """A trade is withdrawn: its block never became final.

    It may come again, and may name a trade that did not come.
    """

    id: str
    trade_id: str
    trade: Trade
    """The trade as it was sent."""
    kind: Literal["retracted"] = "retracted"


@dataclass(frozen=True)
class GapEvent:
    """Trades before `oldest` are not on the feed; `GET /trades` may have them."""

    oldest: str
    kind: Literal["gap"] = "gap"


FeedEvent: TypeAlias = TradeEvent | RetractedEvent | GapEvent


@dataclass(frozen=True)
class Notice:
    """What happens to the connection of a feed."""

    kind: Literal["connected", "cut", "balance_low"]
    balance: int | None = None
    """Credits left, of `balance_low`."""


def event_of(message: Mapping[str, Any]) -> FeedEvent | None:
    """The event that a message of the feed is; None for messages about the connection."""
    if message.get("channel") == "trades":
        return TradeEvent(
            id=message["id"],
            trade_id=message["trade_id"],
            late=message.get("late", False),
            trade=Trade.model_validate(message["data"]),
        )
    if message.get("type") == "retracted":
        trade = Trade.model_validate(message["data"])
        return RetractedEvent(message["id"], message["trade_id"], trade)
    return GapEvent(message["oldest"]) if message.get("type") == "gap" else None


class Reconnect(Exception):
    """The connection has to be opened again, with `after`."""


class FeedState:
    """The position of one iteration of the feed, over all its connections."""

    def __init__(
        self,
        *,
        wallets: Sequence[str] | None,
        mints: Sequence[str] | None,
        after: str | None,
        retry_seconds: float,
        silence_seconds: float,
        on_notice: Callable[[Notice], None] | None,
    ) -> None:
        self._filter = {
            name: list(values)
            for name, values in (("wallets", wallets), ("mints", mints))
            if values is not None
        }
        self._after = after
        self._retry_seconds = retry_seconds
        self._on_notice = on_notice or (lambda notice: None)
        self._failures = 0
        self._pings = 0
        self.ping_seconds = silence_seconds / PARTS
        """How long a connection may be silent before `ask`."""

    def ask(self) -> str:
        """The message that asks a silent service whether it is there.

        Raises `Reconnect` when it has not answered the last ones.
        """
        self._pings += 1
        if self._pings == PARTS:
            raise Reconnect
        return PING

    def subscription(self) -> str:
        """The message that starts or resumes the feed."""
        self._pings = 0
        request: dict[str, Any] = {"action": "subscribe", "channels": ["trades"], **self._filter}
        if self._after is not None:
            request["after"] = self._after
        return json.dumps(request)

    def take(self, text: str | bytes) -> FeedEvent | None:
        """What a message means for the caller; None for nothing. Moves the position.

        Raises `FeedEnded`, and `Reconnect` when the connection has ended by its own limits.
        """
        try:
            return self._take(json.loads(text))
        except (AttributeError, KeyError, TypeError, ValueError, ValidationError) as error:
            raise UnexpectedAnswer("feed: a message of another form", self._after) from error

    def _take(self, message: Mapping[str, Any]) -> FeedEvent | None:
        self._pings = 0
        kind = message.get("type")
        event = event_of(message)
        if isinstance(event, GapEvent):
            self._after = event.oldest
        elif event is not None:
            self._after = event.id
            if event.kind == "trade":
                self._failures = 0
        elif kind == "subscribed":
            self._after = self._after or message["cursor"]
            self._on_notice(Notice("connected"))
        elif kind == "balance_low":
            self._on_notice(Notice("balance_low", message["balance_credits"]))
        elif kind == "error" and message["code"] == "rate_limited":
            raise Reconnect  # each connection has its own limit
        elif kind == "error":
            raise FeedEnded(message["code"], message["message"], self._after)
        elif kind in FINAL:
            raise FeedEnded(kind, FINAL[kind], self._after)
        return event

    def check_refusal(self, status: int, body: bytes | bytearray) -> None:
        """Raises `FeedEnded` if a refused handshake will be refused again."""
        if status >= HTTP_SERVER_ERROR or status == HTTP_TOO_MANY:
            return
        try:
            problem = json.loads(body)
            code, title = str(problem["code"]), str(problem["title"])
        except (KeyError, TypeError, ValueError):
            code, title = "refused", f"refused with status {status}"
        raise FeedEnded(code, title, self._after)

    def pause_after_cut(self) -> float:
        """Seconds to wait before the next connection. It grows until a trade comes."""
        self._on_notice(Notice("cut"))
        longest = self._retry_seconds * 2 ** min(self._failures, MOST_DOUBLINGS)
        self._failures += 1
        return float(longest * random.uniform(0.5, 1))
