-- One row is a stretch of the chain that ingest passed over. The log has nothing of it. A backfill
--   may store it later, but the feed never sends it.
-- Written by: the fold worker, when the marker of a slot names a parent above the previous marker.
-- Read by: the feed, when a client returns.
-- Duplicates: all rows of one key are equal.
CREATE TABLE IF NOT EXISTS slot_gaps
(
    to_slot UInt64 COMMENT 'The last slot of the stretch: parent of the first one after it',
    from_slot UInt64 COMMENT 'The last slot before the stretch',
    inserted_at DateTime64(3, 'UTC') DEFAULT now64(3) COMMENT 'When this row was written'
)
ENGINE = ReplacingMergeTree
ORDER BY (to_slot, from_slot)
SETTINGS non_replicated_deduplication_window = 1000
COMMENT 'Stretches of the chain that were passed over';
