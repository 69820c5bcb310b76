-- compatible: adds a table
-- One row per login to the dashboard whose token has not expired (rule L15): when it began, and its
--   last use, up to ten seconds behind. The token itself is stored nowhere.
-- Written by: each process of the API every ten seconds, for the logins that it has seen since.
-- Read by: `GET /me/sessions`, `DELETE /me/sessions/{id}`.
-- Duplicates: the latest `used_at` wins (FINAL). Rows are deleted once the token has expired. No
--   row has a whole client address.
CREATE TABLE IF NOT EXISTS dashboard_sessions
(
    wallet      String COMMENT 'account, see accounts',
    token_id    String COMMENT 'claim jti of the token',
    generation  UInt64 COMMENT 'claim gen of the token, see token_generations',
    verified_by String COMMENT 'public key that verified the token, base64url',
    expires_at  DateTime64(3, 'UTC') COMMENT 'when the token expires',
    used_at     DateTime64(3, 'UTC') COMMENT 'when it was last used',
    network     String COMMENT 'client network of the last use: IPv4 /24, IPv6 /48 or unknown'
)
ENGINE = ReplacingMergeTree(used_at)
ORDER BY (wallet, token_id)
TTL toDateTime(expires_at)
COMMENT 'logins to the dashboard'
