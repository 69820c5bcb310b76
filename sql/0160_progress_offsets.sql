-- compatible: adds columns, empty where they are not known
-- `progress` says from which log a worker has stored a partition, and up to which offset. A start
--   compares that with what the log still has (rule K10).
-- Rows of one slot may have several offsets: the highest is the newest.
ALTER TABLE progress
    ADD COLUMN IF NOT EXISTS log_id String DEFAULT '' COMMENT 'Identity of the log: the id of the Kafka topic, or the start of a log in memory in unix milliseconds; empty: not known' CODEC(ZSTD),
    ADD COLUMN IF NOT EXISTS next_offset UInt64 DEFAULT 0 COMMENT 'Every entry of the partition below this offset is stored; 0 without a log_id';
