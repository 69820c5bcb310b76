-- compatible: adds a table
-- One row is what a token account of a tracked wallet held before and after one transaction, failed
--   transactions and those without events included (rule K8). The rows of an account form a chain:
--   each begins with what the previous one ended with.
-- Written by: the fold worker.
-- Read by: the check of these chains, and `operator reconcile`. The links of a wallet's SOL are in
--   `sol_balances`.
-- Duplicates: all rows of one key are one link, and the highest `version` counts. Read with FINAL.
-- Units: raw token units, unix seconds of the block. An amount is 0 while the account does not
--   exist or belongs to somebody else.
-- The addresses of accounts are for the service alone and are never published.
CREATE TABLE IF NOT EXISTS token_links
(
    wallet UInt32 COMMENT 'Number n of the tracked wallet W<n>' CODEC(ZSTD),
    account String COMMENT 'Base58 address of the token account; never published' CODEC(ZSTD),
    slot UInt64 COMMENT 'Slot of the transaction' CODEC(Delta, ZSTD),
    tx_index UInt32 COMMENT 'Index of the transaction in its block' CODEC(ZSTD),
    block_time UInt32 COMMENT 'Unix seconds of the block' CODEC(Delta, ZSTD),
    mint String COMMENT 'Base58 address of the mint' CODEC(ZSTD),
    amount_before UInt64 COMMENT 'Raw units before the transaction' CODEC(ZSTD),
    amount_after UInt64 COMMENT 'Raw units after the transaction' CODEC(ZSTD),
    decoder_version UInt16 DEFAULT 0 COMMENT 'Version of the decoder that made this row; 0: not known' CODEC(ZSTD),
    version UInt64 DEFAULT 0 COMMENT 'Rises when the same link is decoded again' CODEC(ZSTD),
    inserted_at DateTime64(3, 'UTC') DEFAULT now64(3) COMMENT 'When this row was written' CODEC(Delta, ZSTD),
    time DateTime('UTC') ALIAS toDateTime(block_time, 'UTC') COMMENT 'block_time, for people'
)
ENGINE = ReplacingMergeTree(version)
ORDER BY (wallet, account, slot, tx_index)
SETTINGS non_replicated_deduplication_window = 1000
COMMENT 'What token accounts of tracked wallets held before and after each transaction';
