-- One row a dashboard token that was taken back before its end (rule E2), by its id; the token
--   itself is stored nowhere.
-- Written at each logout; read when a process of the API starts, and whenever Redis may have lost some of them.
-- Duplicates: rows of one `token_id` mean the same. Rows go when no such token can be valid any more.
CREATE TABLE IF NOT EXISTS revoked_tokens
(
    token_id  String COMMENT 'claim jti',
    forget_at DateTime64(3, 'UTC') COMMENT 'by then the token has ended by itself'
)
ENGINE = MergeTree
ORDER BY token_id
TTL toDateTime(forget_at)
COMMENT 'dashboard tokens that were taken back'
