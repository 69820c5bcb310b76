-- One row per use of "sign out everywhere". It revokes all dashboard tokens of earlier generations
--   of the wallet (rule E2).
-- Written by: the API.
-- Read by: each process of the API at its start, and whenever Redis may have lost entries.
-- Duplicates: of all rows of one `wallet` the latest `forget_at` counts (max). It is the number of
--   the generation. Rows are deleted once every token of an earlier generation has expired.
CREATE TABLE IF NOT EXISTS token_generations
(
    wallet    String COMMENT 'base58 address that the tokens name',
    forget_at DateTime64(3, 'UTC') COMMENT 'number of the generation: by then all earlier tokens have expired'
)
ENGINE = MergeTree
ORDER BY wallet
TTL toDateTime(forget_at)
COMMENT 'wallets whose dashboard tokens were all revoked'
