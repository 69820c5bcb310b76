-- One row is a token account that a tracked wallet owns or owned. Backfills look there for incoming
--   transfers, because these do not name the wallet.
-- Written by: backfills, when RPC lists the account or a transaction of the wallet shows it.
-- Read by: backfills that continue after a crash.
-- Duplicates: all rows of one (wallet, account) are equal. Read with DISTINCT.
-- The addresses are for the service alone and are never published.
CREATE TABLE IF NOT EXISTS token_accounts
(
    wallet UInt32 COMMENT 'Number n of the tracked wallet W<n>',
    account String COMMENT 'Base58 address of the token account; never published',
    inserted_at DateTime64(3, 'UTC') DEFAULT now64(3) COMMENT 'When this row was written'
)
ENGINE = ReplacingMergeTree
ORDER BY (wallet, account)
SETTINGS non_replicated_deduplication_window = 1000
COMMENT 'Token accounts of tracked wallets, closed ones too';
