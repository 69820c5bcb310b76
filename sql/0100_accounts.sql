-- One row per account: a customer, named by the wallet it connected (not a tracked wallet), and its
--   one valid API key (rule E3).
-- Written by: the API and `operator account create`. A rotation is one row. When an account is
--   created, this row is written last: without it there is no account.
-- Read by: the API.
-- Duplicates: the highest `version` wins (FINAL). An account created without a key has version 0,
--   so any row with a key wins.
CREATE TABLE IF NOT EXISTS accounts
(
    wallet         String COMMENT 'base58 address the customer connected',
    created_at     DateTime64(3, 'UTC') COMMENT 'when the account was made',
    key_sha256     String COMMENT 'of the valid API key, hex, see api_keys; empty: there is none yet',
    key_last4      String COMMENT 'last four characters of the key, for its owner to recognise it',
    key_created_at Nullable(DateTime64(3, 'UTC')) COMMENT 'when the first key was made',
    key_rotated_at Nullable(DateTime64(3, 'UTC')) COMMENT 'when the latest key took the place of another',
    version        UInt64 COMMENT 'unix milliseconds of this picture, at least one more than before'
)
ENGINE = ReplacingMergeTree(version)
ORDER BY wallet
COMMENT 'customers of the service'
