-- compatible: adds a column with a default, and indexes
-- The fold appends what it stores to the log of states (rule K26). What a former owner of a
--   partition may not have appended is found by the time at which it was written. Rows of earlier
--   versions of the service have the time at which they are read or merged.
ALTER TABLE wallet_metrics
    ADD COLUMN IF NOT EXISTS inserted_at DateTime64(3, 'UTC') DEFAULT now64(3) COMMENT 'When this row was written' CODEC(Delta, ZSTD),
    ADD INDEX IF NOT EXISTS news inserted_at TYPE minmax GRANULARITY 1;

ALTER TABLE swaps
    ADD INDEX IF NOT EXISTS news inserted_at TYPE minmax GRANULARITY 1;
