-- compatible: adds a table
-- One row per attempt to deliver to a webhook (rule M1), kept for seven days.
-- Written by: the process of role webhooks that has the webhook, within a second.
-- Read by: `GET /me/webhooks/{id}/deliveries`.
-- Duplicates: none; an attempt whose row was not written in time is missing.
CREATE TABLE IF NOT EXISTS webhook_deliveries
(
    id          String COMMENT 'see webhooks',
    at          DateTime64(3, 'UTC') COMMENT 'when it was sent' CODEC(Delta, ZSTD),
    delivery    String COMMENT 'webhook-id of the delivery',
    kind        Enum8('messages' = 1, 'test' = 2) COMMENT 'messages of the feed, or a test',
    messages    UInt16 COMMENT 'how many messages it had',
    attempt     UInt32 COMMENT 'from 1',
    status      UInt16 COMMENT 'HTTP status of the answer; 0 without an answer',
    failure     LowCardinality(String) COMMENT 'what failed; empty for a 2xx',
    latency_ms  UInt32 COMMENT 'until the answer was there, or it failed'
)
ENGINE = MergeTree
ORDER BY (id, at)
TTL toDateTime(at) + INTERVAL 7 DAY
COMMENT 'Attempts to deliver to webhooks'
