-- One row per account whose history is read for deposits: a payment address, or one of its USDT
--   accounts, closed ones included. All finalized transactions that name the account, up to this
--   slot, have been read, and their deposits are stored.
-- Written by: the process that reads history, after the deposits of a stretch.
-- Read by: the same process at its start.
-- Duplicates: the highest `slot` wins (FINAL).
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
