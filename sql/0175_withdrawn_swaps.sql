-- compatible: adds a table, and a column that is null where it is not known
-- One row is a swap that the feed may have sent and that was withdrawn with its slot (rule K9):
--   what was served of it, and where on the log the withdrawal is. A slot has a withdrawal on every
--   partition, each with the swaps of its own wallets.
-- Units: raw token units, unix seconds of the block.
-- Written by: the fold worker, before it deletes the swap.
-- Read by: the feed, for clients that were sent the swap.
-- Duplicates: all rows of one key are equal. Read with FINAL.
-- Order of withdrawals: as in `late_swaps`, whose places are of the same order.
CREATE TABLE IF NOT EXISTS withdrawn_swaps
(
    epoch UInt64 COMMENT '0 for a log that outlives processes; else unix milliseconds at which the process with the log in memory started',
    passed_slot UInt64 COMMENT 'Slot of the newest marker before the withdrawal in its partition of the log',
    partition UInt16 COMMENT 'Partition of the log',
    offset UInt64 COMMENT 'Offset of the withdrawal there',
    slot UInt64 COMMENT 'Slot of the swap; first part of its event key',
    tx_index UInt32 COMMENT 'Second part of the event key',
    wallet UInt32 COMMENT 'Third part of the event key',
    event_index UInt32 COMMENT 'Last part of the event key',
    block_time UInt32 COMMENT 'Unix seconds of the block',
    side Enum8('buy' = 1, 'sell' = 2) COMMENT 'Side of the wallet',
    base_mint String COMMENT 'Base58 address of the token',
    base_amount UInt128 COMMENT 'Raw units of the token',
    base_decimals UInt8 COMMENT 'Decimals of the token',
    quote_mint Nullable(String) COMMENT 'Base58 address of the quote coin; null if there is none',
    quote_amount UInt128 COMMENT 'Raw units of the quote coin, or lamports without one',
    program LowCardinality(String) COMMENT 'Name of the venue',
    confidence Enum8('high' = 1, 'delta_only' = 2) COMMENT 'How the swap was found',
    quote_mismatch Bool COMMENT 'Whether the quote side does not agree with the balances',
    block_id Nullable(UInt64) COMMENT 'First 8 bytes of the hash of the block, big-endian; null when it is not known',
    late_passed_slot Nullable(UInt64) COMMENT 'Place of a late swap among the late ones; null for one in the order of the chain',
    late_offset Nullable(UInt64) COMMENT 'Second part of that place; its epoch and partition are those of the withdrawal',
    inserted_at DateTime64(3, 'UTC') DEFAULT now64(3) COMMENT 'When this row was written'
)
ENGINE = ReplacingMergeTree
ORDER BY (epoch, passed_slot, partition, offset, slot, tx_index, wallet, event_index)
SETTINGS non_replicated_deduplication_window = 1000
COMMENT 'Swaps of slots that never became final';

-- The block of a late swap tells it from one of another block at the same place.
ALTER TABLE late_swaps ADD COLUMN IF NOT EXISTS block_id Nullable(UInt64) COMMENT 'First 8 bytes of the hash of the block, big-endian; null when it is not known' AFTER event_index;
