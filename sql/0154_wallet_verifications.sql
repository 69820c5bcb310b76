-- compatible: adds a table
-- One row is a comparison of what a tracked wallet holds on chain with what its links say, as of a
--   finalized slot (rule K8). It verifies what comes after the last link of each account.
-- Written by: `operator reconcile`, when it finds no unexplained difference.
-- Read by: `operator wallets` and the analyst's view `coverage`.
-- Duplicates: all rows of one wallet are versions, and the highest `slot` counts. Read with FINAL.
-- Units: unix seconds of the block.
CREATE TABLE IF NOT EXISTS wallet_verifications
(
    wallet UInt32 COMMENT 'Number n of the tracked wallet W<n>',
    slot UInt64 COMMENT 'Finalized slot of the comparison',
    block_time UInt32 COMMENT 'Unix seconds of that slot',
    inserted_at DateTime64(3, 'UTC') DEFAULT now64(3) COMMENT 'When this row was written'
)
ENGINE = ReplacingMergeTree(slot)
ORDER BY wallet
SETTINGS non_replicated_deduplication_window = 1000
COMMENT 'Finalized slots at which a wallet was compared with the chain';
