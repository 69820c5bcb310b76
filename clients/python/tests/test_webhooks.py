"""Deliveries as a receiver gets them, signed here as the Standard Webhooks specification says."""

import base64
import hashlib
import hmac
import json
from typing import Any

import pytest

from tracked_wallets import (
    Delivery,
    GapEvent,
    NotVerified,
    RetractedEvent,
    TradeEvent,
    UnexpectedAnswer,
    read_delivery,
)

from .test_feed_messages import ITEM, TRADE, sent

NOW = 1_790_000_000
RETRACTED = {"type": "retracted", "id": "after a", "trade_id": "a", "data": TRADE}
MESSAGES: list[dict[str, Any]] = [
    sent("a"),
    sent("b", late=True),
    RETRACTED,
    {"type": "gap", "oldest": "c"},
    {"type": "of a newer service"},
]


def secret_of(byte: int) -> str:
    return "whsec_" + base64.b64encode(bytes([byte] * 32)).decode()


SECRET = secret_of(1)


def body_of(kind: str, messages: list[dict[str, Any]]) -> bytes:
    data = {"webhook": "w", "cursor": "after", "messages": messages}
    return json.dumps({"type": kind, "timestamp": "", "data": data}).encode()


BODY = body_of("trades", MESSAGES)


def signed(body: bytes, *secrets: str, at: int = NOW) -> dict[str, str]:
    """Header fields of a delivery with a signature of each secret."""
    keys = [base64.b64decode(one.removeprefix("whsec_")) for one in secrets or (SECRET,)]
    text = b"d.%d.%s" % (at, body)
    signatures = [base64.b64encode(hmac.digest(key, text, hashlib.sha256)).decode() for key in keys]
    return {
        "Webhook-Id": "d",
        "Webhook-Timestamp": str(at),
        "Webhook-Signature": " ".join(f"v1,{one}" for one in signatures),
    }


def test_a_delivery_is_read_as_the_feed_gives_its_messages() -> None:
    assert read_delivery(BODY, signed(BODY), SECRET, now=NOW) == Delivery(
        kind="trades",
        webhook="w",
        cursor="after",
        events=(
            TradeEvent("after a", "a", False, ITEM),
            TradeEvent("after b", "b", True, ITEM),
            RetractedEvent("after a", "a", ITEM),
            GapEvent("c"),
        ),
        messages=tuple(MESSAGES),
    )


def test_a_signature_of_the_library_of_the_specification_is_verified() -> None:
    """`new Webhook(secret).sign('d', new Date(1790000000000), '{...}')` of `standardwebhooks`."""
    body = b'{"type":"test","data":{"webhook":"w"}}'
    headers = {
        **signed(body),
        "Webhook-Signature": "v1,VRHdyXd1JCAiSPT4AfckfBNk8OkG/by/Ffj8fDkR8uM=",
    }
    assert read_delivery(body, headers, SECRET, now=NOW) == Delivery("test", "w", None, (), ())


def test_messages_of_views_are_there_as_the_service_sends_them() -> None:
    left = {"channel": "watchlist", "id": "1", "event": "left", "data": {"mint": "m"}}
    body = body_of("watchlist", [left])
    delivery = read_delivery(body, signed(body), SECRET, now=NOW)
    assert (delivery.kind, delivery.events, delivery.messages) == ("watchlist", (), (left,))


def test_while_a_secret_is_rotated_the_one_before_and_the_new_one_both_verify() -> None:
    headers = signed(BODY, secret_of(2), SECRET)
    for byte in (1, 2):
        assert read_delivery(BODY, headers, secret_of(byte), now=NOW).webhook == "w"
    with pytest.raises(NotVerified):
        read_delivery(BODY, headers, secret_of(3), now=NOW)


HEADERS = signed(BODY)
SIGNATURE = HEADERS["Webhook-Signature"]


@pytest.mark.parametrize(
    ("body", "headers"),
    [
        (BODY.replace(b"after", b"other"), HEADERS),
        (BODY, {**HEADERS, "Webhook-Id": "e"}),
        (BODY, {**HEADERS, "Webhook-Timestamp": str(NOW + 1)}),
        (BODY, {**HEADERS, "Webhook-Timestamp": "now"}),
        (BODY, signed(BODY, at=NOW - 301)),
        (BODY, signed(BODY, at=NOW + 301)),
        *((BODY, {name: HEADERS[name] for name in HEADERS if name != one}) for one in HEADERS),
        *(
            (BODY, {**HEADERS, "Webhook-Signature": text})
            for text in ("", "v1,", "v1,AAAA", "v1,é", SIGNATURE.replace("v1", "v2"))
        ),
    ],
)
def test_what_the_secret_did_not_sign_within_five_minutes_is_not_verified(
    body: bytes, headers: dict[str, str]
) -> None:
    with pytest.raises(NotVerified):
        read_delivery(body, headers, SECRET, now=NOW)


@pytest.mark.parametrize("secret", ["", "whsec_", "tw_key", "whsec_c2hvcnQ="])
def test_a_secret_that_is_none_is_a_fault_of_the_receiver(secret: str) -> None:
    with pytest.raises(ValueError, match="whsec_"):
        read_delivery(BODY, signed(BODY), secret, now=NOW)


@pytest.mark.parametrize("body", [b"[]", b"{", b'{"type":"trades","data":{}}'])
def test_a_delivery_of_another_form_is_unexpected(body: bytes) -> None:
    with pytest.raises(UnexpectedAnswer):
        read_delivery(body, signed(body), SECRET, now=NOW)
