-- compatible: adds a table
-- One row is a sealed slot: its block, and how far the chain was final when it was sealed.
-- Written by: the fold worker that has partition 0, before it stores `progress`.
-- Read by: the start of ingest with a log in memory, which compares with the finalized chain what
--   was sealed and is not final; and the feed, whose trade ids include the block.
-- Duplicates: a slot may be sealed again after a crash, or its block may be replaced by the
--   finalized one. The row written last counts. Read with FINAL.
-- Units: unix seconds of the block, USD x 10^9 for one SOL.
CREATE TABLE IF NOT EXISTS sealed_slots
(
    slot UInt64 COMMENT 'The slot' CODEC(Delta, ZSTD),
    parent UInt64 COMMENT 'The slot before it on the chain' CODEC(Delta, ZSTD),
    block_time UInt32 COMMENT 'Unix seconds of the block' CODEC(Delta, ZSTD),
    block_id Nullable(UInt64) COMMENT 'First 8 bytes of the hash of the block, big-endian; null when it is not known' CODEC(ZSTD),
    finalized Nullable(UInt64) COMMENT 'The newest slot that was known to be final then' CODEC(ZSTD),
    sol_price_time Nullable(UInt32) COMMENT 'Unix seconds of the newest SOL/USD price of the pool then known' CODEC(ZSTD),
    sol_price_usd_e9 Nullable(UInt64) COMMENT 'That price: USD x 10^9 for one SOL' CODEC(ZSTD),
    inserted_at DateTime64(3, 'UTC') DEFAULT now64(3) COMMENT 'When this row was written' CODEC(Delta, ZSTD)
)
ENGINE = ReplacingMergeTree
ORDER BY slot
TTL toDateTime(inserted_at) + INTERVAL 90 DAY
SETTINGS non_replicated_deduplication_window = 1000
COMMENT 'Sealed slots and their blocks';
