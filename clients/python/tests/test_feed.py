"""The feed of the running service, over cut connections and a restart."""

import threading

import pytest

from tracked_wallets import FeedEnded, FeedEvent, Notice, TradeEvent, TradesPage
from tracked_wallets.models import Trade
from tracked_wallets.same_trade import LASTING_FIELDS

from .conftest import Ask, Service
from .cutting_proxy import cutting_proxy
from .followers import Follow, follow_blocking, follow_with_asyncio

COUNT = 40
RESTART_AT = 20


def lasting(trade: Trade) -> tuple[object, ...]:
    return tuple(getattr(trade, field) for field in LASTING_FIELDS)


def stored_after(start: TradesPage, rest: Ask) -> list[tuple[object, ...]]:
    """What `GET /trades` has after a page of the newest trades, oldest first."""
    since = start.items[0].block_time
    known = sum(one.block_time == since for one in start.items)
    assert known < len(start.items)
    later = rest("each_trade", from_=since)
    return [lasting(one) for one in reversed(later)][known:]


@pytest.mark.parametrize("follow", [follow_blocking, follow_with_asyncio])
def test_a_feed_over_cuts_and_a_restart_has_every_trade_of_rest_once_and_in_order(
    follow: Follow, service: Service, rest: Ask
) -> None:
    start = rest("trades", limit=100)
    got: list[tuple[object, ...]] = []
    notices: list[Notice] = []

    def handle(event: FeedEvent) -> bool:
        assert isinstance(event, TradeEvent)
        got.append(lasting(event.trade))
        if len(got) == RESTART_AT and follow is follow_with_asyncio:
            service.restart()
        # Later trades give storage the time to have the first COUNT too.
        return len(got) < COUNT or len(stored_after(start, rest)) < COUNT

    with cutting_proxy(service.port) as proxy:
        url = f"http://127.0.0.1:{proxy.port}"
        options = {"after": start.head, "retry_seconds": 0.01, "on_notice": notices.append}
        follow(url, service.api_key, handle, **options)
        assert proxy.cuts >= 3
    expected = stored_after(start, rest)[:COUNT]
    assert (len(expected), got[:COUNT]) == (COUNT, expected)
    assert sum(notice.kind == "connected" for notice in notices) >= 3


@pytest.mark.parametrize("follow", [follow_blocking, follow_with_asyncio])
def test_a_filtered_feed_has_the_wallets_asked_for(
    follow: Follow, service: Service, rest: Ask
) -> None:
    # Half of those that trade now.
    wanted = sorted({one.wallet for one in rest("trades", limit=50).items})[::2]
    got: list[str] = []

    def handle(event: FeedEvent) -> bool:
        assert isinstance(event, TradeEvent)
        got.append(event.trade.wallet)
        return len(got) < 8

    follow(service.url, service.api_key, handle, wallets=wanted)
    assert set(got) - set(wanted) == set()


@pytest.mark.parametrize("follow", [follow_blocking, follow_with_asyncio])
def test_a_newer_connection_ends_the_feed_with_its_reason_and_position(
    follow: Follow, service: Service
) -> None:
    positions: list[str] = []
    ends: list[FeedEnded] = []
    connected = threading.Event()

    def older(event: FeedEvent) -> bool:
        assert isinstance(event, TradeEvent)
        positions.append(event.id)
        connected.set()
        return True

    def run() -> None:
        try:
            follow(service.url, service.api_key, older)
        except FeedEnded as end:
            ends.append(end)

    thread = threading.Thread(target=run)
    thread.start()
    assert connected.wait(30)
    follow(service.url, service.api_key, lambda event: False)
    thread.join(30)
    assert [(end.code, end.position) for end in ends] == [("superseded", positions[-1])]


@pytest.mark.parametrize("follow", [follow_blocking, follow_with_asyncio])
@pytest.mark.parametrize(
    ("key", "options", "code"),
    [
        ("tw_no", {}, "unauthorized"),
        (None, {"wallets": ["W999999"]}, "wallet_not_found"),
        (None, {"after": "nowhere"}, "invalid_cursor"),
    ],
)
def test_a_feed_that_cannot_begin_ends_with_a_code(
    follow: Follow, service: Service, key: str | None, options: dict[str, object], code: str
) -> None:
    with pytest.raises(FeedEnded) as end:
        follow(service.url, key or service.api_key, lambda event: False, **options)
    assert end.value.code == code
