-- One row is a tracked wallet. The n-th line of the wallets file is W<n> for ever; lines are only
--   appended.
-- Written by: the process that reads the wallets file.
-- Read by: the same process, to refuse a changed line; the API, to know which wallets are tracked;
--   `operator wallets`.
-- Duplicates: all rows of one wallet are equal but for `added_at`. Read with FINAL.
-- The address of a tracked wallet is in this table and in no other, and is never published.
CREATE TABLE IF NOT EXISTS tracked_wallets
(
    wallet UInt32 COMMENT 'Number n of the tracked wallet W<n>',
    address String COMMENT 'Base58 address; never published',
    added_at UInt32 COMMENT 'Unix seconds (wall clock) at which it was first seen in the file'
)
ENGINE = ReplacingMergeTree
ORDER BY wallet
SETTINGS non_replicated_deduplication_window = 1000
COMMENT 'Tracked wallets: number and address';
