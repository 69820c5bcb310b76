-- One row per dashboard token that was revoked before it expired (rule E2), by its id. The token
--   itself is stored nowhere.
-- Written by: the API, at each logout.
-- Read by: each process of the API at its start, and whenever Redis may have lost entries.
-- Duplicates: all rows of one `token_id` mean the same. Rows are deleted once no such token can be
--   valid.
CREATE TABLE IF NOT EXISTS revoked_tokens
(
    token_id  String COMMENT 'claim jti',
    forget_at DateTime64(3, 'UTC') COMMENT 'by then the token has ended by itself'
)
ENGINE = MergeTree
ORDER BY token_id
TTL toDateTime(forget_at)
COMMENT 'dashboard tokens that were taken back'
