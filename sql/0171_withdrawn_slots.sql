-- compatible: adds a table
-- One row says that a sealed slot was withdrawn on one partition of the log, because its block
--   never became final (rule K9). Everything of the slot before that place of the log is void.
-- Written by: the fold worker, before it deletes what is void.
-- Read by: the fold worker, which stores what replaces it; and the API, whose rows may have been
--   corrected.
-- Duplicates: all rows of one key are equal. A slot has several places if a crash repeated the
--   withdrawal.
CREATE TABLE IF NOT EXISTS withdrawn_slots
(
    slot UInt64 COMMENT 'The slot',
    epoch UInt64 COMMENT '0 for a log that outlives processes; else unix milliseconds at which the process with the log in memory started',
    partition UInt16 COMMENT 'Partition of the log',
    offset UInt64 COMMENT 'Offset of the withdrawal there',
    block_id Nullable(UInt64) COMMENT 'First 8 bytes of the hash of the block that was sealed; null when it is not known',
    inserted_at DateTime64(3, 'UTC') DEFAULT now64(3) COMMENT 'When this row was written'
)
ENGINE = ReplacingMergeTree
ORDER BY (slot, epoch, partition, offset)
SETTINGS non_replicated_deduplication_window = 1000
COMMENT 'Sealed slots that never became final';
