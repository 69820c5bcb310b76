-- One row per use of "sign out everywhere": every dashboard token of the wallet of an earlier
-- generation is revoked (rule E2).
-- Written by the API; read when a process of the API starts, and whenever Redis may have lost
-- entries.
-- Duplicates: of several rows of one `wallet` the latest `forget_at` counts (max): it is the number
-- of the generation.
-- Rows go when every token of an earlier generation has expired.
CREATE TABLE IF NOT EXISTS token_generations
(
    wallet    String COMMENT 'base58 address that the tokens name',
    forget_at DateTime64(3, 'UTC') COMMENT 'number of the generation: by then all earlier tokens have expired'
)
ENGINE = MergeTree
ORDER BY wallet
TTL toDateTime(forget_at)
COMMENT 'wallets whose dashboard tokens were all revoked'
