-- One row is a token of the trending watchlist as it was from one tick on. A tick is a block time
--   divisible by 10. A row is written when anything but the ages has changed.
-- The list as of a time T is the newest row with at <= T of each mint, unless its event is `left`.
--   An age is T less the time in the row. (mint, entry) identifies one listing. A listed
--   token has a row in the last 24 hours and a few seconds: each trade causes one, and a token
--   without a trade leaves.
-- Written by: the trending worker, before the tick's row of `progress` (worker `trending`,
--   block_time = slot = the tick). Rows beyond that tick may be incomplete.
-- Read by: `/me/watchlists/trending`, channel `watchlist` of the socket, and analysts (view
--   `watchlist`).
-- Duplicates: all rows of one (at, mint) are one, and the one written last counts. Read with FINAL,
--   bounded by `at`. Late data (a backfill, or a fact about a mint) shows from the next tick on.
--   Earlier rows stay as they are.
-- Units: lamports, USD, unix seconds, and SOL for the figures of momentum. All figures are computed
--   from the published form of swaps (PRIVACY_SALT).
-- Strangers choose `symbol` and `name`. Both are cleaned (see 0015_mints.sql).
CREATE TABLE IF NOT EXISTS watchlist
(
    at UInt32 COMMENT 'The tick: unix seconds, divisible by 10' CODEC(Delta, ZSTD),
    mint String COMMENT 'Mint of the token' CODEC(ZSTD),
    entry UInt32 COMMENT 'The tick at which it came to the list' CODEC(ZSTD),
    event Enum8('entered' = 1, 'changed' = 2, 'left' = 3) COMMENT 'Whether it came, changed, or left; figures of one that left are those as it did',
    symbol String COMMENT 'What the token calls itself for short; empty until known' CODEC(ZSTD),
    name String COMMENT 'What the token calls itself; empty until known' CODEC(ZSTD),
    first_trade_at UInt32 COMMENT 'First swap of a tracked wallet' CODEC(ZSTD),
    discovered_at UInt32 COMMENT 'When a second wallet bought for the first time' CODEC(ZSTD),
    oldest_hold_at Nullable(UInt32) COMMENT 'First trade of the holder who traded first; null when nobody holds' CODEC(ZSTD),
    last_trade_at UInt32 COMMENT 'Newest swap' CODEC(ZSTD),
    wallets Array(UInt32) COMMENT 'Numbers n of the wallets W<n> that hold by their swaps, ascending' CODEC(ZSTD),
    conviction Float64 COMMENT '0 to 100' CODEC(ZSTD),
    held_lamports UInt128 COMMENT 'Cost of the open lots of those wallets' CODEC(ZSTD),
    pct_held Float64 COMMENT 'Held / bought of those wallets, 0 to 1' CODEC(ZSTD),
    avg_entry_mcap Nullable(Float64) COMMENT 'Mean of their known entry market caps, weighted by SOL spent; USD' CODEC(ZSTD),
    current_mcap Nullable(Float64) COMMENT 'Market cap; USD, null while it is not known' CODEC(ZSTD),
    multiple Nullable(Float64) COMMENT 'current_mcap / avg_entry_mcap' CODEC(ZSTD),
    band_min Nullable(Float64) COMMENT 'Lowest known entry market cap of those wallets' CODEC(ZSTD),
    band_max Nullable(Float64) COMMENT 'Highest known entry market cap of those wallets' CODEC(ZSTD),
    buy_lamports UInt128 COMMENT 'Values of buys in the last hour' CODEC(ZSTD),
    sell_lamports UInt128 COMMENT 'Values of sells in the last hour' CODEC(ZSTD),
    mcap_change_pct Float64 COMMENT 'Change of current_mcap in the last hour, percent' CODEC(ZSTD),
    mcap_trend Enum8('down' = -1, 'flat' = 0, 'up' = 1) COMMENT 'up above +5%, down below -5%',
    holders_change_pct Float64 COMMENT 'Change of the number of wallets in the last hour, percent' CODEC(ZSTD),
    holders_trend Enum8('down' = -1, 'flat' = 0, 'up' = 1) COMMENT 'Likewise',
    volume1h Float64 COMMENT 'SOL bought and sold in the last hour' CODEC(ZSTD),
    volume1h_change_pct Float64 COMMENT 'Change against the hour before it, percent' CODEC(ZSTD),
    volume1h_trend Enum8('down' = -1, 'flat' = 0, 'up' = 1) COMMENT 'Likewise',
    liquidity Nullable(Float64) COMMENT 'SOL in the pool of the last swap, doubled; null while it is not known' CODEC(ZSTD),
    liquidity_change_pct Float64 COMMENT 'Change in the last hour, percent' CODEC(ZSTD),
    liquidity_trend Enum8('down' = -1, 'flat' = 0, 'up' = 1) COMMENT 'Likewise',
    state Enum8('discovered' = 1, 'accumulating' = 2, 'distributing' = 3, 'holding' = 4) COMMENT 'Where it stands',
    near_evict Bool COMMENT 'One wallet holds, or nine tenths of 24 hours are over since the last trade',
    reasons Array(String) COMMENT 'What led to each transition, for people; empty when figures alone changed' CODEC(ZSTD),
    inserted_at DateTime64(3, 'UTC') DEFAULT now64(3) COMMENT 'When this row was written' CODEC(Delta, ZSTD),
    time DateTime('UTC') ALIAS toDateTime(at, 'UTC') COMMENT 'at, for people'
)
ENGINE = ReplacingMergeTree
ORDER BY (at, mint)
SETTINGS non_replicated_deduplication_window = 1000
COMMENT 'The trending watchlist, one row a token and change';
