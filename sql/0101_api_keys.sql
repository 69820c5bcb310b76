-- One row an API key that was ever given out (rule E3): whose it is, by its SHA-256; the key itself
--   is stored nowhere. Whether it is valid is said by `accounts`.
-- Written before the row of `accounts` that makes the key valid; read at every call whose key is not cached.
-- Duplicates: rows of one key are equal.
CREATE TABLE IF NOT EXISTS api_keys
(
    key_sha256 String COMMENT 'hex',
    wallet     String COMMENT 'account, see accounts',
    created_at DateTime64(3, 'UTC') COMMENT 'when the key was made'
)
ENGINE = ReplacingMergeTree
ORDER BY key_sha256
COMMENT 'API keys by their hash'
