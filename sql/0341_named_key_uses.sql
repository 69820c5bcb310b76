-- compatible: adds a table
-- One row per named API key that was used: when it was last used, up to ten seconds behind.
-- Written by: each process of the API every ten seconds, for the keys that it has seen since.
-- Read by: `GET /me/keys`.
-- Duplicates: the latest `used_at` counts (max).
CREATE TABLE IF NOT EXISTS named_key_uses
(
    key_sha256 String COMMENT 'hex, see named_keys',
    used_at    DateTime64(3, 'UTC') COMMENT 'when the key was used'
)
ENGINE = ReplacingMergeTree(used_at)
ORDER BY key_sha256
COMMENT 'when named API keys were last used'
