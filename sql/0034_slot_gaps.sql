-- One row is a stretch of the chain that was passed over: nothing of it is on the log; a backfill may store it later, the feed never has it.
-- Written by: the fold worker, when a slot's marker names a parent beyond the marker before it. Read by: the feed, when a client comes back.
-- Duplicates: rows of one key are equal.
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
