-- One row an account: a customer, named by the wallet it connected (not a tracked wallet), and the
--   one API key that is valid (rule E3).
-- Written by the API and by `operator account create`; a rotation is one row. The row is written last when an account is made: without it there is none.
-- Duplicates: the newest `version` wins (FINAL). An account made without a key has version 0, so that whatever is known of a key wins.
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
