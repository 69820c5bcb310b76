-- One row per security event of an account. Events that unauthenticated clients can cause are
-- counted by wallet,
--   kind, network, hour and process, and have one row per count, which grows.
-- Written by: the API, in batches.
-- Read by: `GET /me/events`.
-- Duplicates: of all rows of one wallet, time and `id` the highest `count` wins (FINAL).
-- Times are in UTC. Rows are deleted after 90 days. No row has a whole client address.
CREATE TABLE IF NOT EXISTS account_events
(
    wallet  String COMMENT 'account, see accounts',
    at      DateTime64(3, 'UTC') COMMENT 'when it happened; of a counted one, the first time',
    id      UInt32 COMMENT 'random, tells events of one millisecond apart',
    kind    LowCardinality(String) COMMENT 'signed_in, sign_in_failed, key_rotated and so on',
    network String COMMENT 'client network: IPv4 /24, IPv6 /48, other or unknown',
    count   UInt32 COMMENT 'how often it happened'
)
ENGINE = ReplacingMergeTree(count)
ORDER BY (wallet, at, id)
TTL toDateTime(at) + INTERVAL 90 DAY
COMMENT 'security events that customers can see'
