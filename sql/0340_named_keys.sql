-- compatible: adds a table; an API without it refuses the keys in it
-- One row per place for a named API key of an account (rule L15), of which each account has twenty.
--   A new key takes a place that is empty, or whose key was deleted.
-- Written by: the API (`POST /me/keys`, `DELETE /me/keys/{id}`) and `operator account keys delete`.
--   The row of `api_keys` that names the account is written first.
-- Read by: the API, at every call whose key is not cached and is not the account's own.
-- Duplicates: the highest `version` wins (FINAL).
CREATE TABLE IF NOT EXISTS named_keys
(
    wallet            String COMMENT 'account, see accounts',
    place             UInt8 COMMENT '1 to 20',
    id                String COMMENT 'UUID by which the customer names the key',
    key_sha256        String COMMENT 'hex, see api_keys',
    key_last4         String COMMENT 'last four characters of the key',
    name              String COMMENT 'as the customer wrote it',
    scopes            Array(String) COMMENT 'read, feed',
    allowed_addresses Array(String) COMMENT 'CIDR of the clients that may use it; empty: all may',
    created_at        DateTime64(3, 'UTC') COMMENT 'when the key was made',
    expires_at        Nullable(DateTime64(3, 'UTC')) COMMENT 'from then on it is refused; NULL: never',
    deleted_at        Nullable(DateTime64(3, 'UTC')) COMMENT 'since when it is refused; NULL: it was not deleted',
    version           UInt64 COMMENT 'unix milliseconds of the change, at least one more than before'
)
ENGINE = ReplacingMergeTree(version)
ORDER BY (wallet, place)
COMMENT 'API keys beside the own key of an account'
