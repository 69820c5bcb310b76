-- compatible: adds a table
-- One row per webhook: how far it was delivered, and what was about to be (rule M1). It is written
--   before a delivery is charged, so whoever goes on charges no trade twice.
-- Written by: the process of role webhooks that has the webhook.
-- Read by: the same, when it takes a webhook; the API.
-- Duplicates: the highest `version` wins (FINAL).
CREATE TABLE IF NOT EXISTS webhook_progress
(
    id            String COMMENT 'see webhooks',
    after         String COMMENT 'cursor of the last message that was delivered; empty: none is known',
    charged       Array(String) COMMENT 'trade_ids of the delivery under way, which are paid',
    free_after    String COMMENT 'cursor; with free_through: trades between the two are paid',
    free_through  String COMMENT 'cursor; empty: nothing is replayed',
    filter_after  String COMMENT 'cursor at which the filter was last changed',
    filters       UInt32 COMMENT 'of webhooks, as far as taken over',
    replays       UInt32 COMMENT 'of webhooks, as far as taken over',
    tests         UInt32 COMMENT 'of webhooks, as far as taken over',
    activations   UInt32 COMMENT 'of webhooks, when the state was written',
    state         Enum8('active' = 1, 'balance_exhausted' = 2, 'failing' = 3, 'gone' = 4, 'disabled' = 5) COMMENT 'why it waits, or active',
    failing_since Nullable(DateTime64(3, 'UTC')) COMMENT 'first of the deliveries that failed in a row; NULL: the last one was accepted',
    version       UInt64 COMMENT 'rises with each row',
    stored_at     DateTime('UTC') DEFAULT now() COMMENT 'when the server stored the row; a webhook has a new one each day'
)
ENGINE = ReplacingMergeTree(version)
ORDER BY id
TTL stored_at + INTERVAL 30 DAY
COMMENT 'How far webhooks were delivered'
