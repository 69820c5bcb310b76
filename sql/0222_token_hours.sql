-- compatible: adds a table
-- One row is a token and an hour in which tracked wallets swapped it: prices, volume, holders.
-- Written by: the roller (rule I4), from `wallet_token_hours`.
-- Read by: the roller, and analysts (view `token_hours`).
-- Duplicates: all rows of one (mint, hour) are versions, and the highest `version` counts. Read
--   with FINAL.
-- Units: lamports, SOL for one whole token, unix seconds.
CREATE TABLE IF NOT EXISTS token_hours
(
    mint String COMMENT 'Mint of the token' CODEC(ZSTD),
    hour UInt32 COMMENT 'Unix seconds at which the hour begins (UTC)' CODEC(Delta, ZSTD),
    open_price Nullable(Float64) COMMENT 'Price of the first swap that has a value; null without one' CODEC(ZSTD),
    high_price Nullable(Float64) COMMENT 'Highest price' CODEC(ZSTD),
    low_price Nullable(Float64) COMMENT 'Lowest price' CODEC(ZSTD),
    close_price Nullable(Float64) COMMENT 'Price of the last one' CODEC(ZSTD),
    buys UInt64 COMMENT 'Buy swaps' CODEC(ZSTD),
    sells UInt64 COMMENT 'Sell swaps' CODEC(ZSTD),
    traders UInt64 COMMENT 'Wallets that swapped it' CODEC(ZSTD),
    volume_lamports UInt128 COMMENT 'Sum of the values of swaps that have one' CODEC(ZSTD),
    holders UInt64 COMMENT 'Wallets that had bought more than sold by swaps at the end of the hour' CODEC(ZSTD),
    version UInt64 COMMENT 'Start of the pass that wrote the row, unix milliseconds' CODEC(ZSTD),
    is_deleted UInt8 DEFAULT 0 COMMENT '1: there are no such swaps any more'
)
ENGINE = ReplacingMergeTree(version, is_deleted)
ORDER BY (mint, hour)
SETTINGS index_granularity = 1024, non_replicated_deduplication_window = 1000
COMMENT 'Prices, volume and holders of tokens, one row a token and hour'
