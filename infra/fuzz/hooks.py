"""What the schema language cannot say of valid requests, for schemathesis (infra/fuzz/README.md).

Asks the running service (FUZZ_URL, FUZZ_KEY) for real mints and cursors.
"""

import json
import os
import urllib.request

import schemathesis
from hypothesis import strategies as st
from schemathesis.generation import GenerationMode

LAST_TIME = 4_102_444_799  # the end of 2099, of what a time may be
ALPHABET = "123456789ABCDEFGHJKLMNPQRSTUVWXYZabcdefghijkmnopqrstuvwxyz"


def get(path):
    request = urllib.request.Request(
        os.environ["FUZZ_URL"] + path,
        headers={"Authorization": "Bearer " + os.environ["FUZZ_KEY"]},
    )
    with urllib.request.urlopen(request) as response:
        return json.load(response)


def base58(data):
    number, text = int.from_bytes(data, "big"), ""
    while number:
        number, digit = divmod(number, 58)
        text = ALPHABET[digit] + text
    return "1" * (len(data) - len(data.lstrip(b"\0"))) + text


newest = get("/trades?limit=20")["items"]
MINTS = sorted({item["mint"] for item in newest})
TRADES = [get(f"/trades?limit={limit}")["next_cursor"] for limit in (1, 7, 20)]
# A cursor of swaps belongs to its mint; of one with a single swap there is none.
SWAPS = {mint: get(f"/tokens/{mint}/swaps?limit=1")["next_cursor"] for mint in MINTS}
# The mint of each cursor of swaps; answers add theirs. The fuzzer may follow a link to the next page
# with another mint than the link's.
MINT_OF = {cursor: mint for mint, cursor in SWAPS.items() if cursor}

schemathesis.openapi.format(
    "solana-address",
    st.one_of(st.sampled_from(MINTS), st.binary(min_size=32, max_size=32).map(base58)),
)
schemathesis.openapi.format("key-name", st.text(ALPHABET, min_size=1, max_size=40))
schemathesis.openapi.format("cidr", st.ip_addresses().map(str))
schemathesis.openapi.format("cursor", st.sampled_from(TRADES))
schemathesis.openapi.format(
    "search-text",
    st.one_of(
        st.sampled_from(MINTS),
        st.text(st.characters(exclude_categories=["Cc", "Cs"]), min_size=1, max_size=64),
    ),
)


@schemathesis.hook
def before_call(context, case, kwargs):
    """Makes of valid values a valid request, where their validity depends on each other."""
    if case.meta is None or case.meta.generation.mode != GenerationMode.POSITIVE:
        return
    query = case.query or {}
    if case.operation.path == "/tokens/{mint}/swaps" and "cursor" in query:
        mint = (case.path_parameters or {}).get("mint")
        own = query["cursor"] if MINT_OF.get(query["cursor"]) == mint else SWAPS.get(mint)
        if own is None:
            del query["cursor"]
        else:
            query["cursor"] = own
    # The score has no period.
    if case.operation.path == "/wallets" and query.get("sort") == "score":
        query.pop("period", None)
    # A cursor of a wallet's trades or positions belongs to the wallet. No link leads to another one's.
    if case.operation.path in ("/wallets/{alias}/trades", "/wallets/{alias}/positions"):
        query.pop("cursor", None)
    # A cursor of events belongs to its wallet, which has too few of them for a second page.
    if case.operation.path == "/me/events":
        query.pop("cursor", None)
    for least, most, margin in (("min_holding_seconds", "max_holding_seconds", 0), ("from", "to", 1)):
        bounds = [query.get(name) for name in (least, most)]
        if None not in bounds and int(bounds[0]) + margin > int(bounds[1]):
            query[least], query[most] = bounds[1], bounds[0]
        if None not in bounds and margin and int(bounds[0]) == int(bounds[1]):
            del query[most]
    # A profit has at most 1,000 points.
    if case.operation.path == "/wallets/{alias}/pnl" and "from" in query:
        seconds = 3600 if query.get("interval") == "1h" else 86_400
        last = min(int(query["from"]) + 900 * seconds, LAST_TIME)
        query["to"] = min(int(query.get("to", last)), last)
        if query["to"] <= int(query["from"]):
            del query["from"], query["to"]
    # A key ends in the future.
    if case.operation.path == "/me/keys" and isinstance(case.body, dict):
        if case.body.get("expires_at") is not None:
            case.body["expires_at"] = LAST_TIME
    # A receiver is on the public internet. Views have positions of their own, and no wallets.
    if case.operation.path in ("/me/webhooks", "/me/webhooks/{id}") and isinstance(case.body, dict):
        if "url" in case.body:
            case.body["url"] = "https://bot.example/"
        if case.body.get("channel", "trades") != "trades":
            case.body.pop("wallets", None)
            case.body.pop("after", None)
    # The example of the document is a cursor of no service.
    if case.operation.path == "/me/webhooks/{id}/replay" and isinstance(case.body, dict):
        case.body["cursor"] = TRADES[0]


@schemathesis.hook
def after_call(context, case, response):
    """Learns to which mint a cursor of swaps belongs."""
    if case.operation.path == "/tokens/{mint}/swaps" and response.status_code == 200:
        answer = response.json()
        MINT_OF[answer["next_cursor"]] = answer["mint"]
