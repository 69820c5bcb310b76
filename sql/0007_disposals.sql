-- One row is the part of a lot that one sell or one transfer out took.
-- Written by: the fold worker.
-- Read by: operators, and analysts (view `disposals`).
-- Duplicates: all rows of one (wallet, mint, event key, event key of the lot) are one disposal, and
--   the highest `version` counts. Read with FINAL.
-- Units: raw token units, lamports, unix seconds of the block.
-- The sum over one event is what it matched. The sum of amounts and costs over one lot is what was
--   taken from the lot.
CREATE TABLE IF NOT EXISTS disposals
(
    wallet UInt32 COMMENT 'Number n of the tracked wallet W<n>',
    mint String COMMENT 'Mint of the token' CODEC(ZSTD),
    slot UInt64 COMMENT 'Slot of the sell or transfer out' CODEC(Delta, ZSTD),
    tx_index UInt32 COMMENT 'Its transaction index' CODEC(ZSTD),
    event_index UInt32 COMMENT 'Its event index' CODEC(ZSTD),
    lot_slot UInt64 COMMENT 'Slot of the event that made the lot' CODEC(Delta, ZSTD),
    lot_tx_index UInt32 COMMENT 'Its transaction index' CODEC(ZSTD),
    lot_event_index UInt32 COMMENT 'Its event index' CODEC(ZSTD),
    kind Enum8('sell' = 1, 'transfer_out' = 2) COMMENT 'What took the units; only a sell realises profit',
    block_time UInt32 COMMENT 'Unix seconds of the sell or transfer out' CODEC(Delta, ZSTD),
    lot_time UInt32 COMMENT 'Unix seconds of the event that made the lot' CODEC(Delta, ZSTD),
    lot_origin Enum8('buy' = 1, 'transfer' = 2) COMMENT 'Whether the lot was bought or came by transfer',
    amount UInt128 COMMENT 'Raw units taken' CODEC(ZSTD),
    cost_lamports UInt128 COMMENT 'Their share of the lot''s cost, rounded down; the lot''s last part takes what is left' CODEC(ZSTD),
    proceeds_lamports Nullable(UInt128) COMMENT 'Their share of the sell''s value; null for a transfer and for a sell without a value' CODEC(ZSTD),
    profit_lamports Nullable(Int128) COMMENT 'Realised profit: proceeds less cost; null where proceeds are' CODEC(ZSTD),
    version UInt64 COMMENT 'Refolds of the wallet x 2^32 + records folded when the row was made' CODEC(ZSTD),
    is_deleted UInt8 DEFAULT 0 COMMENT '1: a refold matched differently',
    time DateTime('UTC') ALIAS toDateTime(block_time, 'UTC') COMMENT 'block_time, for people'
)
ENGINE = ReplacingMergeTree(version, is_deleted)
ORDER BY (wallet, mint, slot, tx_index, event_index, lot_slot, lot_tx_index, lot_event_index)
SETTINGS non_replicated_deduplication_window = 1000
COMMENT 'FIFO matches, one row a lot and event';
