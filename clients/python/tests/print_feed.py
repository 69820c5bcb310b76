"""Prints each event of the feed as a line of JSON: `python print_feed.py URL KEY [AFTER]`.

`npm run simulate -- --packages` runs this with the installed wheel.
"""

import json
import sys
from collections.abc import Sequence

from tracked_wallets import GapEvent, Notice, TrackedWallets, TradeEvent


def main(url: str, api_key: str, after: Sequence[str]) -> None:
    def say(notice: Notice) -> None:
        print(json.dumps({"kind": notice.kind}), flush=True)

    with TrackedWallets(url, api_key) as service:
        start = after[0] if after else None
        for event in service.follow(after=start, retry_seconds=0.05, on_notice=say):
            told: dict[str, object] = {"kind": event.kind}
            if not isinstance(event, GapEvent):
                told |= {"id": event.id, "tradeId": event.trade_id}
                told |= {"trade": event.trade.model_dump(mode="json")}
            if isinstance(event, TradeEvent):
                told["late"] = event.late
            print(json.dumps(told), flush=True)


main(sys.argv[1], sys.argv[2], sys.argv[3:])
