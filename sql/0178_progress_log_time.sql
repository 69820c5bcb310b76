-- compatible: adds a column, 0 where it is not known
-- Offsets alone do not tell a log that was restored from an older copy and has grown since. Its
--   entries below `next_offset` are newer than everything that was stored (rule K10).
ALTER TABLE progress
    ADD COLUMN IF NOT EXISTS log_time UInt64 DEFAULT 0 COMMENT 'When the newest stored entry of the partition was appended, unix milliseconds by the clock of the process that appended it; 0: not known' CODEC(ZSTD);
