-- One row a change of an account's credits: the truth about credits (rules E4, K5). Append-only;
--   the sum over an account is what it was granted less what it used, apart from usage of the last
--   second, which the meter holds.
-- Written by the API (top-ups, usage rolled up each second), by `operator account`; read when the meter does not know an account, and by `operator ledger check`.
-- Duplicates: rows of one (wallet, idempotency_key) are one entry; all of them say the same (FINAL).
-- Usage: key `usage:<epoch>:<from>`, one entry an account and stretch of the meter's stream. With each stretch goes a row of wallet '' and key
-- `epoch:<epoch>` with credits 0 in the same block: how far the stream is in the ledger (usage_ms, usage_sequence; the newest wins).
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
