-- One row per account whose API key was used: when it was last used, up to ten seconds behind.
-- Written by: each process of the API every ten seconds, for the accounts that it has seen since.
-- Read by: `GET /me/api`.
-- Duplicates: the latest `used_at` counts (max).
CREATE TABLE IF NOT EXISTS key_uses
(
    wallet  String COMMENT 'account, see accounts',
    used_at DateTime64(3, 'UTC') COMMENT 'when its key was used'
)
ENGINE = ReplacingMergeTree(used_at)
ORDER BY wallet
COMMENT 'when API keys were last used'
