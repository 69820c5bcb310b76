-- One row per security event of an account, or per count of equal ones that strangers can cause:
-- these are counted by wallet, kind, network, hour and process, and the row grows with the count.
-- Written by the API, in batches; read by `GET /me/events`. Never holds a whole client address.
-- Duplicates: of rows of one wallet, time and `id` the one with the highest `count` wins (FINAL).
-- Times in UTC. Rows go after 90 days.
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
