-- One row is a wallet of which a redecode changes events: it is to be folded anew before what is derived from them is true again.
-- Written by: `operator redecode`, before it changes an event of the wallet and when the wallet has been folded. Read by: the next `operator redecode`, which
--   folds what an interrupted one left.
-- Duplicates: rows of one wallet are pictures of it; the highest `version` counts. Read with FINAL.
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
