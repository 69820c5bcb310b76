-- compatible: adds a table
-- One row is what an account of a tracked wallet held on chain after a slot (rule K8). The first
--   ones of a wallet are the start of its chains of links. Its SOL, the row with an empty account,
--   is stored last: with it, every token account without a row held nothing.
-- Written by: ingest, when tracking begins; `operator reconcile`, for an account that held
--   something else than its links say.
-- Read by: the check of the chains, and `operator reconcile`.
-- Duplicates: all rows of one key are equal. Read with FINAL.
-- Units: lamports, or raw token units.
-- The addresses of accounts are for the service alone and are never published.
CREATE TABLE IF NOT EXISTS balance_snapshots
(
    wallet UInt32 COMMENT 'Number n of the tracked wallet W<n>' CODEC(ZSTD),
    account String COMMENT 'Base58 address of the token account, empty for SOL; never published' CODEC(ZSTD),
    mint String COMMENT 'Base58 address of the mint; empty for SOL' CODEC(ZSTD),
    slot UInt64 COMMENT 'The account held this after all transactions of this slot' CODEC(ZSTD),
    amount UInt64 COMMENT 'Lamports, or raw token units' CODEC(ZSTD),
    inserted_at DateTime64(3, 'UTC') DEFAULT now64(3) COMMENT 'When this row was written'
)
ENGINE = ReplacingMergeTree
ORDER BY (wallet, account, slot)
SETTINGS non_replicated_deduplication_window = 1000
COMMENT 'What accounts of tracked wallets held at some slots';
