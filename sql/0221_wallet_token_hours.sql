-- compatible: adds a table
-- One row is what one wallet did with one token by swaps in one hour: what `token_hours` is made
--   of. It has what cannot be added up from hours of a token, such as who holds it.
-- Written by: the roller (rule I4), which computes whole hours from `swaps`.
-- Read by: the roller.
-- Duplicates: all rows of one (mint, wallet, hour) are versions, and the highest `version` counts.
--   Read with FINAL. `version` is the start of the pass that wrote it, in unix milliseconds, and
--   higher than those of all passes before.
-- Projection `by_hour` has the same rows in the order of hours. Index `news` finds what a pass
--   wrote.
-- Units: raw token units, lamports, SOL for one whole token, unix seconds.
CREATE TABLE IF NOT EXISTS wallet_token_hours
(
    mint String COMMENT 'Mint of the token' CODEC(ZSTD),
    wallet UInt32 COMMENT 'Number n of the tracked wallet W<n>',
    hour UInt32 COMMENT 'Unix seconds at which the hour begins (UTC)' CODEC(Delta, ZSTD),
    buys UInt64 COMMENT 'Buy swaps' CODEC(ZSTD),
    sells UInt64 COMMENT 'Sell swaps' CODEC(ZSTD),
    volume_lamports UInt128 COMMENT 'Sum of the values of swaps that have one' CODEC(ZSTD),
    change Int256 COMMENT 'Raw units bought less raw units sold' CODEC(ZSTD),
    priced UInt64 COMMENT 'Swaps with a value, which have a price' CODEC(ZSTD),
    prices Array(Float64) COMMENT 'Of those the first price, the highest, the lowest and the last; empty without one' CODEC(ZSTD),
    open_place Tuple(slot UInt64, tx_index UInt32, event_index UInt32) COMMENT 'Place of the first of them; 0 without one' CODEC(ZSTD),
    close_place Tuple(slot UInt64, tx_index UInt32, event_index UInt32) COMMENT 'Place of the last' CODEC(ZSTD),
    version UInt64 COMMENT 'Start of the pass that wrote the row, unix milliseconds' CODEC(ZSTD),
    is_deleted UInt8 DEFAULT 0 COMMENT '1: there are no such swaps any more',
    INDEX news version TYPE minmax GRANULARITY 1,
    PROJECTION by_hour (SELECT * ORDER BY hour, mint, wallet)
)
ENGINE = ReplacingMergeTree(version, is_deleted)
ORDER BY (mint, wallet, hour)
SETTINGS index_granularity = 1024, non_replicated_deduplication_window = 1000, deduplicate_merge_projection_mode = 'rebuild'
COMMENT 'Swaps of a wallet and token in an hour, added up'
