-- One row per change of an account's credits: the truth about credits (rules E4, K5). The sum over
--   an account is its granted credits less the used ones, except for usage of the last second,
--   which the meter has. Append-only.
-- Written by: the API (top-ups, and usage rolled up each second) and `operator account`.
-- Read by: the API, when the meter does not know an account; `operator ledger check`.
-- Duplicates: all rows of one (wallet, idempotency_key) are one entry and are equal (FINAL).
-- Usage has the key `usage:<epoch>:<from>`: one entry per account and range of the meter's stream.
--   The same block has a row with wallet '', key `epoch:<epoch>` and 0 credits. It says how much of
--   the stream is in the ledger (usage_ms, usage_sequence; the newest wins).
CREATE TABLE IF NOT EXISTS ledger_entries
(
    wallet          String COMMENT 'account, see accounts',
    idempotency_key String COMMENT 'one entry a wallet and key, however often it is written',
    credits         Int64 COMMENT 'granted above zero, used below',
    cause           Enum8('grant' = 1, 'deposit' = 2, 'usage' = 3, 'adjustment' = 4) COMMENT 'why credits changed',
    reason          String COMMENT 'what an operator wrote',
    usage_ms        UInt64 COMMENT 'place in the usage stream up to which it is rolled up; 0 where it is no usage',
    usage_sequence  UInt64 COMMENT 'second part of that place',
    created_at      DateTime64(3, 'UTC') COMMENT 'when the entry was written'
)
ENGINE = ReplacingMergeTree(usage_ms)
ORDER BY (wallet, idempotency_key)
COMMENT 'every change of credits'
