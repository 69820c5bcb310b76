"""What the messages of a feed do, played by a server of this test."""

import json
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from http import HTTPStatus
from typing import Any

import pytest
from websockets.http11 import Request, Response
from websockets.sync.server import ServerConnection, serve

from tracked_wallets import (
    FeedEnded,
    FeedEvent,
    GapEvent,
    Notice,
    RetractedEvent,
    TradeEvent,
    UnexpectedAnswer,
)
from tracked_wallets.models import Trade

from .followers import Follow, follow_blocking, follow_with_asyncio

TRADE = {
    "block_time": 1_790_000_000,
    "wallet": "W12",
    "side": "buy",
    "mint": "DezXAZ8z7PnrnRJjz3wXBoRgixCa6xjnB7YaB1pPB263",
    "token_amount": "123456789",
    "decimals": 5,
    "sol_amount": 1.5,
    "quote_mint": "So11111111111111111111111111111111111111112",
    "quote_amount": "1500000000",
    "program": "pumpswap",
    "sol_value": 1.5,
    "price_sol": 0.001,
    "symbol": "Bonk",
    "a_new_field": True,
}
ITEM = Trade.model_validate(TRADE)


def sent(name: str, **more: Any) -> dict[str, Any]:
    return {"channel": "trades", "id": f"after {name}", "trade_id": name, "data": TRADE, **more}


@contextmanager
def playing(connections: list[Any]) -> Iterator[tuple[str, list[Any]]]:
    """A feed that sends each list of messages to one connection and closes it, or refuses one with
    a status and a body. After "silence" it only listens. Yields its URL, and the `after` of each
    subscription, or what else it was told.
    """
    asked: list[Any] = []

    def refuse(socket: ServerConnection, request: Request) -> Response | None:
        if connections and isinstance(connections[0], tuple):
            status, body = connections.pop(0)
            return socket.respond(HTTPStatus(status), body)
        return None

    def play(socket: ServerConnection) -> None:
        request = json.loads(socket.recv())
        asked.append(request.get("after"))
        for message in connections.pop(0):
            if message == "silence":
                asked.extend(json.loads(text)["action"] for text in socket)
            else:
                socket.send(json.dumps(message))
        socket.close(1012)

    with serve(play, "127.0.0.1", 0, process_request=refuse) as server:
        thread = threading.Thread(target=server.serve_forever)
        thread.start()
        try:
            yield f"http://127.0.0.1:{server.socket.getsockname()[1]}", asked
        finally:
            server.shutdown()
            thread.join()


END: dict[str, Any] = {"type": "balance_exhausted"}


def played(
    follow: Follow, connections: list[Any], **options: Any
) -> tuple[list[FeedEvent], list[Any], FeedEnded]:
    """The events that a client makes of messages, its positions, and its end."""
    events: list[FeedEvent] = []
    with playing(connections) as (url, asked), pytest.raises(FeedEnded) as end:

        def handle(event: FeedEvent) -> bool:
            events.append(event)
            return True

        follow(url, "tw_any", handle, retry_seconds=0.001, **options)
    return events, asked, end.value


both = pytest.mark.parametrize("follow", [follow_blocking, follow_with_asyncio])


@both
def test_trades_withdrawals_and_gaps_come_once_and_move_the_position(follow: Follow) -> None:
    gap = {"type": "gap", "oldest": "oldest"}
    retracted = {"type": "retracted", "id": "after t3", "trade_id": "t1", "data": TRADE}
    notices: list[Notice] = []
    events, asked, end = played(
        follow,
        [
            [{"type": "subscribed", "cursor": "now"}, {"type": "ping"}],
            [gap],
            [sent("t1"), sent("t2", late=True), {"type": "restarting"}],
            (503, "busy"),
            (429, "slower"),
            [{"type": "balance_low", "balance_credits": 9}, retracted, {"type": "slow_reader"}],
            [{"type": "a_new_type"}, {"channel": "a_new_channel", "id": "x"}],
            [END],
        ],
        on_notice=notices.append,
    )
    assert events == [
        GapEvent("oldest"),
        TradeEvent("after t1", "t1", False, ITEM),
        TradeEvent("after t2", "t2", True, ITEM),
        RetractedEvent("after t3", "t1", ITEM),
    ]
    assert asked == [None, "now", "oldest", "after t2", "after t3", "after t3"]
    assert (end.code, end.position) == ("balance_exhausted", "after t3")
    assert [notice for notice in notices if notice.kind != "cut"] == [
        Notice("connected"),
        Notice("balance_low", 9),
    ]
    assert sum(notice.kind == "cut" for notice in notices) == 7


@both
def test_a_silent_service_is_asked_and_then_left(follow: Follow) -> None:
    connections = [[sent("t1"), "silence"], [sent("t2"), END]]
    events, asked, _ = played(follow, connections, silence_seconds=0.3)
    assert [getattr(event, "trade_id", None) for event in events] == ["t1", "t2"]
    assert asked == [None, "ping", "ping", "after t1"]


@both
@pytest.mark.parametrize(
    "kind",
    ["superseded", "key_rotated", "key_deleted", "key_expired", "account_disabled"],
)
def test_a_final_reason_ends_the_iteration_with_its_code(follow: Follow, kind: str) -> None:
    events, asked, end = played(follow, [[sent("t1"), {"type": kind}]])
    assert (len(events), asked, end.code, end.position) == (1, [None], kind, "after t1")


@both
def test_a_refused_subscription_ends_and_too_many_messages_do_not(follow: Follow) -> None:
    limited = {"type": "error", "code": "rate_limited", "message": "too many"}
    refused = {"type": "error", "code": "invalid_cursor", "message": "no such place"}
    _, asked, end = played(follow, [[sent("t1"), limited], [refused]])
    assert (asked, end.code, str(end)) == ([None, "after t1"], "invalid_cursor", "no such place")


@both
@pytest.mark.parametrize(
    ("refusal", "code"),
    [
        ((402, '{"code": "insufficient_credits", "title": "none left"}'), "insufficient_credits"),
        ((404, "<html>"), "refused"),
    ],
)
def test_a_refused_handshake_ends_with_the_code_of_its_problem(
    follow: Follow, refusal: tuple[int, str], code: str
) -> None:
    _, asked, end = played(follow, [refusal])
    assert (asked, end.code) == ([], code)


@both
@pytest.mark.parametrize("message", [[], {"channel": "trades"}, sent("t1", data={}), END["type"]])
def test_a_message_of_another_form_is_an_error(follow: Follow, message: Any) -> None:
    with playing([[message]]) as (url, _), pytest.raises(UnexpectedAnswer):
        follow(url, "tw_any", lambda event: True)
