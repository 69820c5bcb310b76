-- One row is what an account of a tracked wallet held when tracking began: the start of its chain of
--   links (rule K8). A wallet's row with an empty account is its SOL, and is stored last: with it,
--   every token account without a row held nothing.
-- Written by: ingest, when it has followed the wallet from that slot on.
-- Read by: the check of the chains, and `operator reconcile`.
-- Duplicates: all rows of one key are snapshots of one account, and the lowest `slot` counts. Read
--   with FINAL.
-- Units: lamports, or raw token units.
-- The addresses of accounts are for the service alone and are never published.
CREATE TABLE IF NOT EXISTS balance_snapshots
(
    wallet UInt32 COMMENT 'Number n of the tracked wallet W<n>' CODEC(ZSTD),
    account String COMMENT 'Base58 address of the token account, empty for SOL; never published' CODEC(ZSTD),
    mint String COMMENT 'Base58 address of the mint; empty for SOL' CODEC(ZSTD),
    slot UInt64 COMMENT 'The account held this after all transactions of this slot' CODEC(ZSTD),
    amount UInt64 COMMENT 'Lamports, or raw token units' CODEC(ZSTD),
    version UInt64 MATERIALIZED 18446744073709551615 - slot COMMENT 'The first snapshot counts',
    inserted_at DateTime64(3, 'UTC') DEFAULT now64(3) COMMENT 'When this row was written'
)
ENGINE = ReplacingMergeTree(version)
ORDER BY (wallet, account)
SETTINGS non_replicated_deduplication_window = 1000
COMMENT 'What accounts of tracked wallets held when tracking began';
