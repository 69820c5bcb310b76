-- incompatible: rows of an older worker have no fencing token and replace no newer ones
-- `progress` says which owner of a partition wrote a row (rule K15). The fencing token of an owner
--   is above those of all owners before it, and versions of the rows that the fold derives begin
--   with it. So what an evicted owner still writes does not replace rows of the next one.
-- Within a consumer group, tokens differ as generations do. A group that was deleted starts at
--   generation 1 again, and its tokens continue after the stored one.
ALTER TABLE progress
    ADD COLUMN IF NOT EXISTS fence UInt32 DEFAULT 0 COMMENT 'Fencing token of the owner that wrote the row; 0: a log in memory, or an earlier version' CODEC(ZSTD),
    ADD COLUMN IF NOT EXISTS generation UInt32 DEFAULT 0 COMMENT 'Generation of the consumer group in which it had the partition' CODEC(ZSTD);
