"""Answers of the service, written by `write_models.py` from its OpenAPI document.

Amounts in raw units are `str` of an integer. Times are unix seconds. SOL figures are `float`.
Fields that a newer service adds are ignored.
"""

from __future__ import annotations

from tracked_wallets.model import Answer, Model
from typing import Annotated, Literal
from pydantic import Field


class HoldingTiming(Model):
    """
    When the wallet traded the token, in unix seconds.
    """

    first_activity_at: int
    """
    Time of the wallet's first trade of the token
    """

    last_activity_at: int
    """
    Time of its newest trade of the token
    """

    holding_time: int
    """
    Seconds from `first_activity_at` to the newest stored block (`GET /status`)
    """


class NamedToken(Model):
    """
    A token by its address and what it calls itself.
    """

    address: str
    """
    Token address
    """

    symbol: str | None
    """
    Null while it is not known
    """

    name: str | None
    """
    Null while it is not known
    """


class ProfitPoint(Model):
    """
    Profit of a tracked wallet at a time.
    """

    time: int
    """
    Unix seconds; what happened until then counts
    """

    realized_sol: float
    """
    Profit of all sells so far
    """

    unrealized_sol: float
    """
    Value of the open positions less their cost, where a price is known
    """

    total_sol: float
    """
    `realized_sol` + `unrealized_sol`
    """

    open_cost_sol: float
    """
    Cost of all open positions
    """

    volume_sol: float
    """
    Value of the swaps in the interval that ends with `time`
    """

    unpriced: int
    """
    Open positions without a price, which `unrealized_sol` leaves out
    """


class SearchHit(Model):
    """
    A tracked wallet or a token.
    """

    kind: Literal["wallet", "token"] | str
    match: Literal["exact", "prefix", "word"] | str
    """
    `exact`: the alias, the address or the symbol; `prefix`: the alias or symbol begins with the text; `word`: the name has all of its words
    """

    wallet: str | None
    """
    Alias of the wallet; null for a token
    """

    token: NamedToken | None
    """
    Null for a wallet
    """

    holders: int | None
    """
    Tracked wallets that hold the token, counting swaps only; null for a wallet
    """


class SolPriceAnswer(Answer):
    """
    The price of SOL in USD at a time.
    """

    at: int | None
    """
    The time asked for; null before the first slot
    """

    price_usd: float | None
    """
    USD for one SOL; null where none is known
    """

    time: int | None
    """
    When the price held, at or before `at`
    """

    age_seconds: int | None
    """
    `at` less `time`
    """

    source: Literal["pool", "file"] | str | None
    """
    `pool`: a SOL/USDC pool on the chain; `file`: history that the operator loaded
    """


class Stage(Model):
    """
    The newest slot that a stage has completed, and its block time.
    """

    slot: int | None
    """
    Null before the first slot
    """

    block_time: int | None


class Swap(Model):
    """
    A swap of a tracked wallet on one token.
    """

    block_time: int
    """
    Trade time, unix seconds of the block
    """

    wallet: str
    """
    Alias of a tracked wallet
    """

    side: Literal["buy", "sell"] | str
    """
    Whether the wallet bought or sold the token
    """

    base_mint: str
    """
    Address of the traded token
    """

    base_amount: str
    """
    Raw token amount; divide by 10^`base_decimals`
    """

    base_decimals: int
    """
    Decimals of the token
    """

    quote_mint: str
    """
    Quote coin: WSOL, USDC or USDT; without one, WSOL with `quote_amount` 0
    """

    quote_amount: str
    """
    Raw quote amount including all fees: what the wallet paid or received
    """

    program: str
    """
    DEX, launchpad or router of the swap; `unknown` if not known
    """

    confidence: Literal["high", "delta_only"] | str
    """
    `high`: decoded from an instruction; `delta_only`: derived from balance changes
    """

    quote_mismatch: bool
    """
    True if no opposing quote amount was found; such a swap has no value in SOL
    """

    sol_value: float | None
    """
    What the quote is worth in SOL; null while it has no value
    """

    price_sol: float | None
    """
    SOL for one whole token, by `sol_value`; null without it
    """

    symbol: str | None
    """
    Symbol of the token as its creator chose it; null while it is not known
    """


class Token(Model):
    """
    A token.
    """

    address: str
    """
    Token address
    """

    decimals: int
    """
    Decimals of the token
    """


class TokenActivity(Model):
    """
    Swaps of tracked wallets on a token in a span of time up to `as_of`.
    """

    buys: int
    sells: int
    volume_sol: float
    """
    Values of these swaps in SOL; those without a value add none
    """

    wallets: int
    """
    Distinct wallets that swapped the token
    """


class TokenFacts(Model):
    """
    What is known of a token.
    """

    address: str
    """
    Token address
    """

    decimals: int | None
    """
    Decimals; null if no tracked wallet swapped the token
    """

    symbol: str | None
    """
    As its creator chose it; null while it is not known
    """

    name: str | None
    """
    As its creator chose it; null while it is not known
    """

    supply: str | None
    """
    Raw units in all, as first fetched; null until then
    """


class TokenSwapsAnswer(Answer):
    """
    A page of the swaps on one token.
    """

    mint: str
    """
    Token address
    """

    count: int
    limit: int
    has_more: bool
    """
    Whether there is another page
    """

    next_cursor: str | None
    """
    Pass it as `cursor` for the next, older page; null on the last page
    """

    items: list[Swap]
    """
    Newest first
    """


class Trade(Model):
    """
    A trade of a tracked wallet. `GET /trades` and the feed have the same object for the same trade; the feed sends it once, so a value or symbol that is filled in later shows in `GET /trades` alone.
    """

    block_time: int
    """
    Trade time, unix seconds of the block
    """

    wallet: str
    """
    Alias of the wallet, never a real address
    """

    side: Literal["buy", "sell"] | str
    """
    Whether the wallet bought or sold the token
    """

    mint: str
    """
    Address of the traded token
    """

    token_amount: str
    """
    Raw token amount; divide by 10^`decimals`
    """

    decimals: int
    """
    Decimals of the token
    """

    sol_amount: float
    """
    SOL, not lamports; 0 if the quote coin is not WSOL
    """

    quote_mint: str | None
    """
    Quote coin: WSOL, USDC or USDT; null if there was none (one token for another)
    """

    quote_amount: str
    """
    Raw quote amount including all fees: what the wallet paid or received; `0` without a quote coin
    """

    program: str
    """
    DEX, launchpad or router of the swap; `unknown` if not known
    """

    sol_value: float | None
    """
    What the quote is worth in SOL; null while it has no value
    """

    price_sol: float | None
    """
    SOL for one whole token, by `sol_value`; null without it
    """

    symbol: str | None
    """
    Symbol of the token as its creator chose it; null while it is not known
    """


class TradesAnswer(Answer):
    """
    A page of trades.
    """

    count: int
    limit: int
    has_more: bool
    """
    Whether there is another page
    """

    next_cursor: str | None
    """
    Pass it as `cursor` for the next, older page; null on the last page
    """

    items: list[Trade]
    """
    Newest first
    """


class WalletAggregate(Model):
    """
    Swaps of one tracked wallet on one token, summed.
    """

    wallet: str
    """
    Alias of a tracked wallet
    """

    alias: str
    """
    Same as `wallet`
    """

    buys: int
    """
    Buy swaps
    """

    sells: int
    """
    Sell swaps
    """

    base_bought: str
    """
    Raw tokens bought
    """

    base_sold: str
    """
    Raw tokens sold
    """

    base_net: str
    """
    `base_bought` - `base_sold`; negative if more was sold than bought (the rest came by transfer)
    """

    sol_in: float
    """
    SOL spent on buys; USDC and USDT converted at the SOL price of each swap
    """

    sol_out: float
    """
    SOL received for sells
    """

    pct_held: float
    """
    `base_net` / `base_bought` as a fraction from 0 to 1; 0 if nothing was bought
    """

    first_buy_time: int | None
    """
    Time of the first buy, unix seconds; null for a wallet that only sold
    """

    last_trade_time: int
    """
    Time of the newest swap, in unix seconds
    """

    entry_mcap: float | None
    """
    Market cap in USD at the wallet's first buy; null while the supply is unknown, and if that buy has no value in SOL
    """


class WalletAggregatesAnswer(Answer):
    """
    Swaps of one token, summed per wallet.
    """

    mint: str
    """
    Token address
    """

    tracked_wallets: int
    """
    Tracked wallets that swapped the token
    """

    wallets: list[WalletAggregate]
    """
    By `first_buy_time` (null last), then alias number
    """


class WalletMetricsIdentity(Model):
    wallet: str
    """
    Alias of a tracked wallet
    """

    tracked: bool
    score: float | None
    """
    Quality from 0 to 100, at most two decimals; null if `status` is `review`
    """

    status: Literal["scored", "review", "disqualified"] | str
    """
    `disqualified`: less than 10 SOL, or `winrate` under 35 and a loss; else `review`: fewer than 50 or more than 1000 trades; else `scored`
    """


class WalletMetricsPnl(Model):
    sol_balance: float | None
    """
    SOL balance of the wallet; null while unknown
    """

    pnl_sol: float
    """
    Realised FIFO profit over all tokens: (sell price - lot price) x quantity
    """

    sol_bought: float
    """
    SOL spent on buys
    """

    sol_sold: float
    """
    SOL received on sells
    """

    sol_invested_open: float
    """
    Cost of all unsold FIFO lots
    """

    unrealized_token_count: int
    """
    Tokens with open lots
    """


class WalletMetricsActivity(Model):
    total_trades: int
    """
    `buys` + `sells`
    """

    buys: int
    """
    Buy swaps
    """

    sells: int
    """
    Sell swaps
    """

    transfers_in: int
    """
    Token transfers received
    """

    transfers_out: int
    """
    Token transfers sent
    """

    sol_received: float
    """
    SOL received by transfers
    """

    sol_sent: float
    """
    SOL sent by transfers
    """

    unique_tokens_traded: int
    """
    Tokens swapped
    """


class WalletMetricsBehaviorActiveTime(Model):
    hour_utc: int
    """
    Hour of the day, UTC
    """

    tx_count: int
    """
    Distinct transactions in that hour, over all days
    """


class WalletMetricsBehavior(Model):
    winrate: float | None
    """
    Percent (0 to 100) of tokens with realised profit above zero, among tokens with a sell of known value; null if there is none
    """

    loserate: float | None
    """
    Like `winrate`, with realised profit below zero
    """

    avg_holding_time: float | None
    """
    Mean seconds from the purchase of a lot to the sell matched with it; null without a sell
    """

    avg_time_to_almost_full_exit: float | None
    """
    Mean seconds from the first buy of a token until 90% of the bought amount was sold; null if there is none
    """

    avg_buy_amount: float | None
    """
    `sol_bought` / `buys`; null without a buy
    """

    avg_sell_amount: float | None
    """
    `sol_sold` / `sells`; null without a sell
    """

    quick_sells: int
    """
    Buys of which at least half was sold within 15 s
    """

    sold_more_than_bought: int
    """
    Tokens of which the wallet sold more than it bought
    """

    active_times: list[WalletMetricsBehaviorActiveTime]
    """
    The three UTC hours with the most transactions, the busiest first
    """


class AccountPro(Model):
    """
    Pro of the wallet; nulls without it
    """

    active: bool
    plan: str | None
    expires_at: int | None


class AccountLimits(Model):
    """
    Bounds of this account; null: none. `RateLimit` has what is left
    """

    requests_per_minute: int | None
    concurrent_requests: int | None
    feed_connections: int
    feed_messages_per_minute: int | None
    """
    Messages and pings that a feed connection may send; those that it gets do not count
    """


class AccountUsage(Model):
    """
    Credits used in this UTC day; a second or two behind the balance
    """

    since: int
    credits: int


class HeldTokenHolders(Model):
    wallet_count: int
    """
    Tracked wallets that hold the token now
    """

    wallets: list[str]
    """
    Aliases of these wallets, by number
    """


class HeldTokenAggregate(Model):
    tokens_held: float
    """
    Tokens held by these wallets together, divided by 10^decimals
    """

    sol_invested: float
    """
    SOL that these wallets spent on the token
    """


class HoldingPosition(Model):
    sol_bought: float
    """
    SOL that the wallet spent on the token
    """

    sol_sold: float
    """
    SOL that the wallet received for the token
    """

    tokens_acquired: float
    """
    Tokens bought, divided by 10^decimals
    """

    tokens_sold: float
    """
    Tokens sold, divided by 10^decimals
    """

    tokens_held: float
    """
    Tokens bought less tokens sold, without transfers
    """

    pct_held: float
    """
    `tokens_held` / `tokens_acquired`, a fraction
    """


class ProblemError(Model):
    in_: Annotated[Literal["query", "path", "body"] | str, Field(alias="in")]
    name: str
    message: str


class RankedWalletPeriod(Model):
    """
    Figures of the period; only in a sorted list
    """

    pnl_sol: float
    """
    Realised FIFO profit of the sells of the period, whenever they bought
    """

    winrate: float | None
    """
    Percent (0 to 100) of tokens with realised profit above zero in the period, among tokens with a sell of known value in it; null if there is none
    """

    trades: int
    """
    Swaps of the period
    """

    volume_sol: float
    """
    What the swaps of the period were worth
    """

    rank: int
    """
    Place in this list, from 1
    """


class StatusFinalized(Model):
    """
    The newest slot that can no longer be withdrawn. Trades of later slots are confirmed, not final
    """

    slot: int | None
    """
    Null before the first slot
    """


class StatusMetrics(Model):
    """
    The newest slot whose events are counted in the metrics of wallets
    """

    slot: int | None
    """
    Null before the first slot
    """


class StatusFeed(Model):
    slot: int | None
    """
    Null before the first slot
    """

    connections: int
    """
    Open feed connections of this process
    """


class StatusAudit(Model):
    """
    Places in the histories of wallets at which something is missing: being fetched, and not to be had
    """

    open_breaks: int
    unexplained_breaks: int


class WalletHoldingPosition(Model):
    balance: float
    """
    Tokens held; the same as `tokens_held`
    """

    tokens_acquired: float
    """
    Tokens bought, divided by 10^decimals
    """

    tokens_held: float
    """
    Tokens bought less tokens sold, without transfers
    """

    sol_invested: float
    """
    SOL that the wallet spent on the token
    """


class WalletPositionToken(Model):
    address: str
    """
    Token address
    """

    decimals: int
    """
    Decimals of the token
    """

    symbol: str | None
    """
    Symbol of the token as its creator chose it; null while it is not known
    """

    name: str | None
    """
    Name as its creator chose it; null while it is not known
    """


class AccountAnswer(Answer):
    """
    The account of an API key.
    """

    balance_credits: int
    """
    Credits left, less those reserved by feed connections
    """

    reserved_credits: int
    """
    Reserved by feed connections; what they do not use comes back
    """

    pro: AccountPro
    limits: AccountLimits
    usage: AccountUsage


class HeldToken(Model):
    """
    A token held by several tracked wallets.
    """

    token: Token
    holders: HeldTokenHolders
    aggregate: HeldTokenAggregate


class HeldTokensAnswer(Answer):
    """
    A page of the tokens held by several wallets.
    """

    min_wallets: int
    page: int
    page_size: int
    total: int
    """
    Tokens on all pages
    """

    has_more: bool
    """
    Whether there is another page
    """

    items: list[HeldToken]
    """
    By `wallet_count` descending, then `sol_invested` descending, then address
    """


class Holding(Model):
    """
    A token that a tracked wallet holds, counting swaps only.
    """

    wallet: str
    """
    Alias of a tracked wallet
    """

    token: Token
    position: HoldingPosition
    timing: HoldingTiming


class HoldingsAnswer(Answer):
    """
    A page of holdings of tracked wallets.
    """

    alias: str | None
    """
    The filter `alias`; null for all tracked wallets
    """

    min_holding_seconds: int
    max_holding_seconds: int | None
    page: int
    page_size: int
    total: int
    """
    Holdings on all pages
    """

    has_more: bool
    """
    Whether there is another page
    """

    items: list[Holding]
    """
    By `last_activity_at` descending, then token address, then alias number
    """


class Problem(Model):
    """
    Why a request was refused.
    """

    type: str
    """
    Always `about:blank`: the kind of problem is its status
    """

    title: str
    """
    A sentence for humans
    """

    status: int
    """
    The HTTP status
    """

    detail: (
        Literal[
            "bad_request",
            "invalid_cursor",
            "invalid_parameter",
            "unauthorized",
            "invalid_signature",
            "insufficient_credits",
            "account_disabled",
            "address_not_allowed",
            "scope_missing",
            "origin_not_allowed",
            "pro_required",
            "not_found",
            "wallet_not_found",
            "method_not_allowed",
            "request_timeout",
            "payload_too_large",
            "unsupported_media_type",
            "upgrade_required",
            "key_not_found",
            "session_not_found",
            "webhook_not_found",
            "too_many_webhooks",
            "too_many_keys",
            "rate_limited",
            "headers_too_large",
            "internal_error",
            "unavailable",
        ]
        | str
    )
    """
    The same as `code`
    """

    code: (
        Literal[
            "bad_request",
            "invalid_cursor",
            "invalid_parameter",
            "unauthorized",
            "invalid_signature",
            "insufficient_credits",
            "account_disabled",
            "address_not_allowed",
            "scope_missing",
            "origin_not_allowed",
            "pro_required",
            "not_found",
            "wallet_not_found",
            "method_not_allowed",
            "request_timeout",
            "payload_too_large",
            "unsupported_media_type",
            "upgrade_required",
            "key_not_found",
            "session_not_found",
            "webhook_not_found",
            "too_many_webhooks",
            "too_many_keys",
            "rate_limited",
            "headers_too_large",
            "internal_error",
            "unavailable",
        ]
        | str
    )
    """
    Stable code for programs
    """

    request_id: str
    """
    The same as `X-Request-Id`
    """

    errors: list[ProblemError] | None = None
    """
    Faults of single parameters
    """


class ProfitAnswer(Answer):
    """
    Profit of a wallet over time.
    """

    wallet: str
    """
    Alias of a tracked wallet
    """

    interval: Literal["1h", "1d"] | str
    """
    The parameter `interval`
    """

    mode: Literal["raw", "strict"] | str
    """
    The parameter `mode`
    """

    as_of: int | None
    """
    Time of the newest stored block; null before the first one
    """

    count: int
    """
    Number of items
    """

    items: list[ProfitPoint]
    """
    Points, oldest first
    """


class RankedWallet(Model):
    """
    A tracked wallet with its metrics, and in a sorted list those of the period.
    """

    identity: WalletMetricsIdentity
    pnl: WalletMetricsPnl
    activity: WalletMetricsActivity
    behavior: WalletMetricsBehavior
    computed_at: int
    """
    Unix seconds of the last computation; 0 without events
    """

    period: RankedWalletPeriod | None = None


class SearchAnswer(Answer):
    """
    What a text finds.
    """

    items: list[SearchHit]
    """
    Best first
    """


class StatusAnswer(Answer):
    """
    Progress of each stage.
    """

    version: str
    """
    Version of the service
    """

    ingest: Stage
    finalized: StatusFinalized
    storage: Stage
    metrics: StatusMetrics
    feed: StatusFeed
    audit: StatusAudit
    lag_seconds: int | None
    """
    Current time less the block time of the newest slot that is both stored and sent by the feed; null before the first
    """


class TokenAnswer(Answer):
    """
    A token: facts, price, holders and activity.
    """

    token: TokenFacts
    as_of: int | None
    """
    Time of the newest stored block; null before the first one
    """

    price_sol: float | None
    """
    SOL for one whole token; null where it is not known
    """

    price_usd: float | None
    """
    The same in USD at the SOL price of `as_of`
    """

    price_source: Literal["pool", "swap"] | str | None
    """
    `pool`: the state of the token's pool; `swap`: the newest swap of a tracked wallet within 24 hours
    """

    price_age_seconds: int | None
    """
    `as_of` less the time of the price
    """

    market_cap_usd: float | None
    """
    Supply times `price_usd`
    """

    holders: int
    """
    Tracked wallets that hold the token, counting swaps only
    """

    holders_pct: float | None
    """
    What they hold, as a percentage of the supply; null while that is not known
    """

    first_buy_at: int | None
    """
    The first buy of a tracked wallet; null without one
    """

    last_1h: TokenActivity
    last_24h: TokenActivity


class WalletHolding(Model):
    """
    A token that the wallet holds, counting swaps only.
    """

    token: Token
    position: WalletHoldingPosition
    timing: HoldingTiming


class WalletHoldingsAnswer(Answer):
    """
    Holdings of one tracked wallet.
    """

    wallet: str
    """
    Alias of a tracked wallet
    """

    tokens: list[WalletHolding]
    """
    By `last_activity_at` descending, then token address
    """


class WalletMetrics(Answer):
    """
    A tracked wallet with its metrics. Metrics count swaps and transfers: a token received by transfer enters FIFO at zero cost, and a token sent leaves it without profit. USDC and USDT are converted at the SOL price of each swap.
    """

    identity: WalletMetricsIdentity
    pnl: WalletMetricsPnl
    activity: WalletMetricsActivity
    behavior: WalletMetricsBehavior
    computed_at: int
    """
    Unix seconds of the last computation; 0 without events
    """


class WalletPosition(Model):
    """
    What a tracked wallet made of one token.
    """

    token: WalletPositionToken
    status: Literal["open", "closed"] | str
    """
    `open` while the wallet holds some of it
    """

    amount: str
    """
    Raw tokens held; divide by 10^`decimals`
    """

    cost_sol: float
    """
    What the held tokens cost, oldest bought sold first
    """

    avg_cost_sol: float | None
    """
    `cost_sol` for one whole token; null when closed
    """

    realized_sol: float
    """
    Profit of all sells: what they gave less what the sold tokens cost
    """

    price_sol: float | None
    """
    SOL for one whole token now; null when closed, and where no price is known
    """

    price_source: Literal["pool", "swap"] | str | None
    """
    `pool`: the pool of a token on the watchlist; `swap`: the newest swap of another tracked wallet within 24 hours
    """

    price_age_seconds: int | None
    """
    Age of the price at `as_of`
    """

    value_sol: float | None
    """
    `amount` at that price; null where `price_sol` is
    """

    unrealized_sol: float | None
    """
    `value_sol` - `cost_sol`; null where `price_sol` is
    """

    bought_sol: float
    """
    SOL paid in buys
    """

    sold_sol: float
    """
    SOL received in sells
    """

    buys: int
    """
    Buy swaps
    """

    sells: int
    """
    Sell swaps
    """

    return_pct: float | None
    """
    Profit in percent of `bought_sol`: `realized_sol`, and while open `unrealized_sol` too. Null for an open position without a price, and where `bought_sol` is 0
    """

    holding_seconds: int | None
    """
    From the first swap to `as_of`, or to the last swap when closed; null without a swap
    """

    first_trade_at: int | None
    """
    Time of the first swap; null for transfers alone
    """

    last_trade_at: int | None
    """
    Time of the last swap; null for transfers alone
    """


class WalletsAnswer(Answer):
    """
    A page of the tracked wallets.
    """

    page: int
    page_size: int
    total: int
    """
    Wallets on all pages
    """

    has_more: bool
    """
    Whether there is another page
    """

    as_of: int | None = None
    """
    Full hour at which the period ends, unix seconds; null while history is still being fetched: such an answer has no items and costs nothing. Only in a sorted list
    """

    items: list[RankedWallet]
    """
    W1 to Wn, or in the order of `sort`
    """


class PositionsAnswer(Answer):
    """
    A page of positions of a wallet.
    """

    wallet: str
    """
    Alias of a tracked wallet
    """

    status: Literal["open", "closed", "all"] | str
    """
    The parameter `status`
    """

    mode: Literal["raw", "strict"] | str
    """
    The parameter `mode`
    """

    as_of: int | None
    """
    Time of the newest stored block; null before the first one
    """

    count: int
    """
    Number of items on this page
    """

    limit: int
    """
    The parameter `limit`
    """

    has_more: bool
    """
    Whether there is another page
    """

    next_cursor: str | None
    """
    Pass it as `cursor` for the next, older page; null on the last page
    """

    items: list[WalletPosition]
    """
    The token with the newest event first
    """
