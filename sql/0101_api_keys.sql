-- One row an API key that was ever given out (decisions E3): its SHA-256 and last four characters, never the key.
-- Written when an account is made or its key rotated (both rows of a rotation in one insert); read at every call whose key is not cached.
-- Duplicates: the newest `version` wins (FINAL).
CREATE TABLE IF NOT EXISTS api_keys
(
    key_sha256 String COMMENT 'hex',
    wallet     String COMMENT 'account, see accounts',
    last4      String COMMENT 'last four characters of the key, for its owner to recognise it',
    created_at DateTime64(3, 'UTC') COMMENT 'when the key was made',
    revoked_at Nullable(DateTime64(3, 'UTC')) COMMENT 'set: the key is invalid',
    version    UInt64 COMMENT 'unix milliseconds of this picture'
)
ENGINE = ReplacingMergeTree(version)
ORDER BY key_sha256
COMMENT 'API keys by their hash'
