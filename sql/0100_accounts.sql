-- One row an account: a customer, named by the wallet it connected (not a tracked wallet).
-- Written by the API and by `operator account create`; read at key look-ups. The row is written last when an account is made: without it there is none.
-- Duplicates: the newest `version` wins (FINAL).
CREATE TABLE IF NOT EXISTS accounts
(
    wallet     String COMMENT 'base58 address the customer connected',
    created_at DateTime64(3, 'UTC') COMMENT 'when the account was made',
    version    UInt64 COMMENT 'unix milliseconds of this picture'
)
ENGINE = ReplacingMergeTree(version)
ORDER BY wallet
COMMENT 'customers of the service'
