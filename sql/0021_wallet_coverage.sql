-- One row says since when everything that a tracked wallet did is stored, except for the stretches
--   in open rows of `backfills` (reasons `gap` and `added`).
-- Written by: ingest, when the first slot with the wallet in its subscription is stored, and the
--   process that finishes a backfill.
-- Read by: the same processes, and `operator wallets`.
-- Duplicates: all rows of one wallet are versions of one answer, and the highest `version` is the
--   newest. Read with FINAL. A wallet without a row is not covered yet.
-- Units: slots, unix seconds of blocks.
-- Coverage moves back in time when a backfill that reaches it ends. It moves forward when RPC lists
--   a transaction of a gap but does not return it.
CREATE TABLE IF NOT EXISTS wallet_coverage
(
    wallet UInt32 COMMENT 'Number n of the tracked wallet W<n>',
    since_slot UInt64 COMMENT 'Everything from this slot on is stored',
    since_time UInt32 COMMENT 'Block time of that slot, or later, unix seconds',
    version UInt64 COMMENT 'Milliseconds (wall clock) of this picture; the highest counts',
    inserted_at DateTime64(3, 'UTC') DEFAULT now64(3) COMMENT 'When this row was written'
)
ENGINE = ReplacingMergeTree(version)
ORDER BY wallet
SETTINGS non_replicated_deduplication_window = 1000
COMMENT 'Since when the history of a wallet is complete';
