-- One row is a wallet whose events a redecode changes. Until the wallet is folded again, its
--   derived rows are not right.
-- Written by: `operator redecode`, before it changes an event of the wallet, and again when the
--   wallet has been folded.
-- Read by: the next `operator redecode`, which folds the wallets that an interrupted one left; the
--   API, which after a redecode also looks for corrected rows (infra/decisions/read-orders.md).
-- Duplicates: all rows of one wallet are versions of its state, and the highest `version` counts.
--   Read with FINAL.
CREATE TABLE IF NOT EXISTS redecoded_wallets
(
    wallet UInt32 COMMENT 'Number n of the tracked wallet W<n>',
    is_folded Bool COMMENT 'Whether it was folded anew after its events were changed',
    version UInt64 COMMENT 'Milliseconds (wall clock) x 2, and 1 more when is_folded is false',
    inserted_at DateTime64(3, 'UTC') DEFAULT now64(3) COMMENT 'When this row was written'
)
ENGINE = ReplacingMergeTree(version)
ORDER BY wallet
COMMENT 'Wallets whose events a redecode changed';
