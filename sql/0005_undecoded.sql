-- One row is a transaction that could not be decoded for one tracked wallet.
-- Written by: the fold worker and `operator redecode`.
-- Read by: operators.
-- Duplicates: all rows of one (slot, tx_index, wallet) are one. The highest `version` counts; if
--   that row is deleted, the transaction was decoded since. Read with FINAL.
-- Units: unix seconds of the block.
CREATE TABLE IF NOT EXISTS undecoded
(
    slot UInt64 COMMENT 'Slot of the transaction' CODEC(Delta, ZSTD),
    tx_index UInt32 COMMENT 'Index of the transaction in its block' CODEC(ZSTD),
    wallet UInt32 COMMENT 'Number n of the tracked wallet W<n>' CODEC(ZSTD),
    block_time UInt32 COMMENT 'Unix seconds of the block' CODEC(Delta, ZSTD),
    signature String COMMENT 'Base58 signature of the transaction; never published' CODEC(ZSTD),
    program_id LowCardinality(Nullable(String)) COMMENT 'Program at fault, where one is known; never published',
    reason LowCardinality(String) COMMENT 'Why, from a closed set (pipeline/decode)',
    decoder_version UInt16 DEFAULT 0 COMMENT 'Version of the decoder that made this row; 0: not known' CODEC(ZSTD),
    version UInt64 DEFAULT 0 COMMENT 'Rises when the same transaction is decoded again' CODEC(ZSTD),
    is_deleted UInt8 DEFAULT 0 COMMENT '1: a later decoder can decode it',
    inserted_at DateTime64(3, 'UTC') DEFAULT now64(3) COMMENT 'When this row was written' CODEC(Delta, ZSTD)
)
ENGINE = ReplacingMergeTree(version, is_deleted)
ORDER BY (slot, tx_index, wallet)
SETTINGS non_replicated_deduplication_window = 1000
COMMENT 'Transactions that could not be decoded, with the reason';
