-- One row per API key that was ever issued (rule E3): its account, by the SHA-256 of the key. The
--   key itself is stored nowhere. `accounts` says whether it is valid.
-- Written by: the API and `operator account create`, before the row of `accounts` that makes the
--   key valid.
-- Read by: the API, at every call whose key is not cached.
-- Duplicates: all rows of one key are equal.
CREATE TABLE IF NOT EXISTS api_keys
(
    key_sha256 String COMMENT 'hex',
    wallet     String COMMENT 'account, see accounts',
    created_at DateTime64(3, 'UTC') COMMENT 'when the key was made'
)
ENGINE = ReplacingMergeTree
ORDER BY key_sha256
COMMENT 'API keys by their hash'
