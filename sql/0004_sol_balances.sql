-- One row is the SOL balance of a tracked wallet's own account after one transaction that names it,
--   failed transactions included.
-- Written by: the fold worker.
-- Read by: refolds (the newest row by slot and tx_index is the balance of the wallet), and analysts
--   (view `sol_balances`).
-- Duplicates: all rows of one (wallet, slot, tx_index) are one record, and the highest `version`
--   counts. Read with FINAL to count records; argMax or max need no FINAL.
-- Units: lamports, unix seconds of the block.
CREATE TABLE IF NOT EXISTS sol_balances
(
    wallet UInt32 COMMENT 'Number n of the tracked wallet W<n>' CODEC(ZSTD),
    slot UInt64 COMMENT 'Slot of the transaction' CODEC(Delta, ZSTD),
    tx_index UInt32 COMMENT 'Index of the transaction in its block' CODEC(ZSTD),
    block_time UInt32 COMMENT 'Unix seconds of the block' CODEC(Delta, ZSTD),
    lamports UInt64 COMMENT 'Balance after the transaction' CODEC(ZSTD),
    decoder_version UInt16 DEFAULT 0 COMMENT 'Version of the decoder that made this row; 0: not known' CODEC(ZSTD),
    version UInt64 DEFAULT 0 COMMENT 'Rises when the same balance is decoded again' CODEC(ZSTD),
    inserted_at DateTime64(3, 'UTC') DEFAULT now64(3) COMMENT 'When this row was written' CODEC(Delta, ZSTD),
    time DateTime('UTC') ALIAS toDateTime(block_time, 'UTC') COMMENT 'block_time, for people'
)
ENGINE = ReplacingMergeTree(version)
ORDER BY (wallet, slot, tx_index)
SETTINGS non_replicated_deduplication_window = 1000
COMMENT 'SOL balances of tracked wallets after each transaction that names them';
