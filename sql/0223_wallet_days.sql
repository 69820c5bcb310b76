-- compatible: adds a table
-- One row is a wallet and a day (UTC) on which it swapped.
-- Written by: the roller (rule I4), which computes whole days from `swaps` and `disposals`.
-- Read by: the roller, and analysts (view `wallet_days`).
-- Duplicates: all rows of one (day, wallet) are versions, and the highest `version` counts. Read
--   with FINAL.
-- Units: lamports.
CREATE TABLE IF NOT EXISTS wallet_days
(
    day Date COMMENT 'Day of the blocks, UTC' CODEC(Delta, ZSTD),
    wallet UInt32 COMMENT 'Number n of the tracked wallet W<n>' CODEC(ZSTD),
    buys UInt64 COMMENT 'Buy swaps' CODEC(ZSTD),
    sells UInt64 COMMENT 'Sell swaps' CODEC(ZSTD),
    unvalued UInt64 COMMENT 'Of both: swaps without a value' CODEC(ZSTD),
    volume_lamports UInt128 COMMENT 'Sum of the values of swaps that have one' CODEC(ZSTD),
    realized_lamports Int128 COMMENT 'Realised FIFO profit of the sells of the day' CODEC(ZSTD),
    wins UInt64 COMMENT 'Sells with a realised profit above zero, over all lots that they took from' CODEC(ZSTD),
    losses UInt64 COMMENT 'Sells with one below zero' CODEC(ZSTD),
    version UInt64 COMMENT 'Start of the pass that wrote the row, unix milliseconds' CODEC(ZSTD),
    is_deleted UInt8 DEFAULT 0 COMMENT '1: there are no such swaps any more'
)
ENGINE = ReplacingMergeTree(version, is_deleted)
ORDER BY (day, wallet)
SETTINGS index_granularity = 1024, non_replicated_deduplication_window = 1000
COMMENT 'Profit and trades of wallets, one row a wallet and day'
