-- One row is the newest slot marker of one partition up to which one worker has stored every
--   record.
-- Written by: each worker, as the last insert of a flush.
-- Read by: `/status`, every read that must not go beyond it, and the start of ingest.
-- Duplicates: all rows of one (worker, partition) are versions of one position, and the highest
--   `slot` is the newest. Read with FINAL.
-- Storage as a whole is complete up to the lowest slot of all partitions, once a worker has
--   `partitions` rows. Worker `trending` has one row, whose slot and block_time are both its newest
--   tick (rule G1). It is stored after everything of that tick.
CREATE TABLE IF NOT EXISTS progress
(
    worker LowCardinality(String) COMMENT 'Name of the worker, for example fold',
    partition UInt16 COMMENT 'Partition of the log',
    partitions UInt16 COMMENT 'How many partitions the log has',
    slot UInt64 COMMENT 'Slot of the marker',
    parent UInt64 COMMENT 'The slot before it on the chain',
    block_time UInt32 COMMENT 'Unix seconds of the block',
    sol_price_time Nullable(UInt32) COMMENT 'Unix seconds of the newest SOL/USD price then known; null when none was',
    sol_price_usd_e9 Nullable(UInt64) COMMENT 'That price: USD x 10^9 for one SOL',
    inserted_at DateTime64(3, 'UTC') DEFAULT now64(3) COMMENT 'When this row was written'
)
ENGINE = ReplacingMergeTree(slot)
ORDER BY (worker, partition)
SETTINGS non_replicated_deduplication_window = 1000
COMMENT 'How far each worker has stored each partition';
