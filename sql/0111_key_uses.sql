-- One row an account whose API key was used, as of when last. Up to ten seconds behind.
-- Written by each process of the API every ten seconds, for the accounts that it saw in them; read by `GET /me/api`.
-- Duplicates: the latest `used_at` counts (max).
CREATE TABLE IF NOT EXISTS key_uses
(
    wallet  String COMMENT 'account, see accounts',
    used_at DateTime64(3, 'UTC') COMMENT 'when its key was used'
)
ENGINE = ReplacingMergeTree(used_at)
ORDER BY wallet
COMMENT 'when API keys were last used'
