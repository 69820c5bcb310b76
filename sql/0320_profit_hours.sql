-- compatible: adds a table
-- One row is what one wallet did with one token by swaps in one hour (UTC), and the FIFO profit
--   that its sells realised, as they are served: with PRIVACY_SALT of perturbed swaps at served
--   times.
-- Written by: the fold worker, again whenever the hour changes.
-- Read by: the API, for the leaderboard (rule L10).
-- Duplicates: all rows of one (wallet, hour, mint) are versions, and the highest `version` is the
--   newest. Read with FINAL.
-- Units: lamports, unix seconds.
CREATE TABLE IF NOT EXISTS profit_hours
(
    wallet UInt32 COMMENT 'Number n of the tracked wallet W<n>',
    hour UInt32 COMMENT 'Unix seconds at which the hour begins (UTC)' CODEC(Delta, ZSTD),
    mint String COMMENT 'Mint of the token' CODEC(ZSTD),
    trades UInt32 COMMENT 'Buy and sell swaps' CODEC(ZSTD),
    valued_sells UInt32 COMMENT 'Sells that have a value; the token counts for the win rate when above 0' CODEC(ZSTD),
    volume_lamports UInt128 COMMENT 'Sum of the values of swaps that have one' CODEC(ZSTD),
    realized_lamports Int128 COMMENT 'Realised FIFO profit of the sells, transfers counted' CODEC(ZSTD),
    strict_realized_lamports Int128 COMMENT 'Realised FIFO profit of the sells by swaps alone (rule L6)' CODEC(ZSTD),
    version UInt64 COMMENT 'Refolds of the wallet x 2^32 + records folded when the row was made' CODEC(ZSTD),
    is_deleted UInt8 DEFAULT 0 COMMENT '1: a refold found no such swaps'
)
ENGINE = ReplacingMergeTree(version, is_deleted)
ORDER BY (wallet, hour, mint)
SETTINGS index_granularity = 1024, non_replicated_deduplication_window = 1000
COMMENT 'Swaps and realised profit of a wallet and token in an hour, as served';
