-- One row is a filter strategy that fired for a token of the watchlist, with the figures of that
--   moment. A strategy fires at most once per listing (mint and entry).
-- Written by: the trending worker, before its row of `progress` for that tick.
-- Read by: `GET /me/signals/filter`, channel `signals` of the socket, and the worker at its start.
-- Duplicates: a tick that is computed again gives the same rows. Read with LIMIT 1 BY the key. Rows
--   never change.
CREATE TABLE IF NOT EXISTS signals
(
    fired_at UInt32 COMMENT 'Tick at which all conditions first held, unix seconds of block time',
    strategy LowCardinality(String) COMMENT 'Name of the strategy',
    mint String COMMENT 'Mint of the token',
    entry UInt32 COMMENT 'Unix seconds at which the token entered the watchlist',
    id FixedString(32) COMMENT 'Follows from strategy, mint and entry, hex',
    symbol String COMMENT 'What the token called itself for short at that time; empty when it was not known',
    name String COMMENT 'What the token called itself at that time; empty when it was not known',
    conviction Float64 COMMENT 'Conviction, 0 to 100',
    wallets_holding UInt32 COMMENT 'Tracked wallets that held the token',
    wallets Array(UInt32) COMMENT 'Numbers of their aliases, ascending',
    trigger_mcap Nullable(Float64) COMMENT 'Market cap in USD; null when it was not known',
    held_lamports UInt128 COMMENT 'Cost of what they held',
    buy_lamports UInt128 COMMENT 'Bought by tracked wallets in the hour before',
    sell_lamports UInt128 COMMENT 'Sold by tracked wallets in the hour before',
    reasons Array(Tuple(field String, op String, threshold String, value String)) COMMENT 'Conditions that held, in their order; threshold and value as JSON',
    time DateTime('UTC') ALIAS toDateTime(fired_at, 'UTC') COMMENT 'fired_at, for people'
)
ENGINE = ReplacingMergeTree
ORDER BY (fired_at, mint, strategy, entry)
COMMENT 'Filter strategies that fired, one row a strategy and stay of a token on the watchlist';
