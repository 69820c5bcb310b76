-- One row an account whose history is read for deposits: a payment address, or a USDT account of one, closed ones too. Every finalized transaction that names the account,
-- up to this slot, has been looked at and its deposits are stored.
-- Written after a stretch of history was read, after its deposits; read at the start of a process that reads it.
-- Duplicates: the newest `slot` wins (FINAL).
CREATE TABLE IF NOT EXISTS deposit_positions
(
    account   String COMMENT 'base58 address',
    owner     String COMMENT 'payment address whose account it is, or itself',
    signature String COMMENT 'base58 signature of its newest transaction up to there; empty: it has none',
    slot      UInt64 COMMENT 'slot up to which history was read, that one too'
)
ENGINE = ReplacingMergeTree(slot)
ORDER BY account
COMMENT 'how far the history of payment accounts was read'
