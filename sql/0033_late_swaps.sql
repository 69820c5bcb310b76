-- One row is the place of one late swap among the late ones. A late swap arrived after its slot had
--   been sealed, and went to sockets marked late.
-- Written by: the fold worker, before the swap itself.
-- Read by: the feed, when a client returns, for the swaps that arrived late since it left.
-- Duplicates: all rows of one place are equal. A swap may have two places, if the process that saw
--   it first ended before it was stored.
-- Order: epoch, passed_slot; within those, offset in each partition. Every reader of the log finds
--   the same order.
CREATE TABLE IF NOT EXISTS late_swaps
(
    epoch UInt64 COMMENT '0 for a log that outlives processes; else unix milliseconds at which the process with the log in memory started',
    passed_slot UInt64 COMMENT 'Slot of the newest marker before it in its partition of the log',
    partition UInt16 COMMENT 'Partition of the log',
    offset UInt64 COMMENT 'Its offset there',
    slot UInt64 COMMENT 'Slot of the swap; first part of its event key',
    tx_index UInt32 COMMENT 'Second part of the event key',
    wallet UInt32 COMMENT 'Third part of the event key',
    event_index UInt32 COMMENT 'Last part of the event key',
    inserted_at DateTime64(3, 'UTC') DEFAULT now64(3) COMMENT 'When this row was written'
)
ENGINE = ReplacingMergeTree
ORDER BY (epoch, passed_slot, partition, offset)
SETTINGS non_replicated_deduplication_window = 1000
COMMENT 'Late swaps in the order in which they came';
