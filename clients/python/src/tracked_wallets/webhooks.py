"""Deliveries of webhooks: verified by the Standard Webhooks specification, and read."""

import base64
import hashlib
import hmac
import json
import re
import time
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any, Literal, Protocol

from pydantic import ValidationError

from .errors import TrackedWalletsError, UnexpectedAnswer
from .feed import FeedEvent, event_of

TOLERANCE_SECONDS = 300
"""Deliveries older or newer than this are refused: somebody may send one again."""


class NotVerified(TrackedWalletsError):
    """A delivery whose signature or time is not right. Answer it with 400."""


class Headers(Protocol):
    """Header fields of a request, as web frameworks have them, with names in any case."""

    def items(self) -> Iterable[tuple[str, str]]: ...


@dataclass(frozen=True)
class Delivery:
    """A delivery of a webhook."""

    kind: Literal["trades", "watchlist", "signals", "test"]
    """The channel of the webhook; `test`: its owner has asked for a test: it has no messages."""
    webhook: str
    """The id of the webhook."""
    cursor: str | None
    """Position after its messages; None for a test."""
    events: tuple[FeedEvent, ...]
    """The messages of the channel `trades`, as `follow` gives them. They may come again.

    Of each `trade_id` the last event counts: one of the same `kind` was delivered before.
    """
    messages: tuple[Mapping[str, Any], ...]
    """All messages, as the service sends them."""


def read_delivery(
    body: bytes, headers: Headers, secret: str, *, now: float | None = None
) -> Delivery:
    """Verifies a delivery and reads it. `body` is the body of the request, as it came.

    `secret` is what `POST /me/webhooks` answered (`whsec_...`): `ValueError` if it is not of that
    form. Raises `NotVerified`, and `UnexpectedAnswer` for a delivery of a form that is not known.
    """
    if not re.fullmatch(r"whsec_[A-Za-z0-9+/]{32,}=*", secret):
        raise ValueError("expected a secret, whsec_...")
    key = base64.b64decode(secret.removeprefix("whsec_"))
    fields = {name.lower(): value for name, value in headers.items()}
    try:
        delivery, timestamp, signatures = (
            fields[f"webhook-{name}"] for name in ("id", "timestamp", "signature")
        )
        age = (time.time() if now is None else now) - int(timestamp)
    except (KeyError, ValueError) as error:
        raise NotVerified("a header field is missing or malformed") from error
    if abs(age) > TOLERANCE_SECONDS:
        raise NotVerified("not of the last five minutes")
    signed = f"{delivery}.{timestamp}.".encode() + body
    expected = b"v1," + base64.b64encode(hmac.digest(key, signed, hashlib.sha256))
    if not any(hmac.compare_digest(expected, one.encode()) for one in signatures.split(" ")):
        raise NotVerified("no signature by this secret")
    try:
        message = json.loads(body)
        data = message["data"]
        messages = tuple(data.get("messages", ()))
        events = tuple(event for one in messages if (event := event_of(one)))
        return Delivery(message["type"], data["webhook"], data.get("cursor"), events, messages)
    except (AttributeError, KeyError, TypeError, ValueError, ValidationError) as error:
        raise UnexpectedAnswer("a delivery of another form") from error
