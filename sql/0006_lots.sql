-- One row is a lot: the tokens that a wallet received in one event, what they cost, and what is
--   left of them. Sells and transfers out use up lots oldest first (FIFO).
-- Written by: the fold worker, again each time something is taken from the lot.
-- Read by: operators, and analysts (view `lots`).
-- Duplicates: all rows of one (wallet, mint, event key) are versions of one lot, and the highest
--   `version` is the newest. Read with FINAL.
-- Units: raw token units, lamports, unix seconds of the block.
CREATE TABLE IF NOT EXISTS lots
(
    wallet UInt32 COMMENT 'Number n of the tracked wallet W<n>',
    mint String COMMENT 'Mint of the token' CODEC(ZSTD),
    slot UInt64 COMMENT 'Slot of the event that made the lot' CODEC(Delta, ZSTD),
    tx_index UInt32 COMMENT 'Transaction index of that event' CODEC(ZSTD),
    event_index UInt32 COMMENT 'Event index of that event' CODEC(ZSTD),
    block_time UInt32 COMMENT 'Unix seconds of that event' CODEC(Delta, ZSTD),
    origin Enum8('buy' = 1, 'transfer' = 2) COMMENT 'Whether the tokens were bought or came by transfer (zero cost)',
    amount UInt128 COMMENT 'Raw units as the lot was made' CODEC(ZSTD),
    cost_lamports UInt128 COMMENT 'Cost as the lot was made; 0 for a transfer and for a buy without a value' CODEC(ZSTD),
    left_amount UInt128 COMMENT 'Raw units still held; 0 when the lot is used up' CODEC(ZSTD),
    left_cost_lamports UInt128 COMMENT 'Cost of the units still held' CODEC(ZSTD),
    quick_sold_amount UInt128 COMMENT 'Of a bought lot: units that sells consumed at most 15 s after the buy' CODEC(ZSTD),
    version UInt64 COMMENT 'Refolds of the wallet x 2^32 + records folded when the row was made' CODEC(ZSTD),
    is_deleted UInt8 DEFAULT 0 COMMENT '1: a refold found that there is no such lot',
    time DateTime('UTC') ALIAS toDateTime(block_time, 'UTC') COMMENT 'block_time, for people'
)
ENGINE = ReplacingMergeTree(version, is_deleted)
ORDER BY (wallet, mint, slot, tx_index, event_index)
SETTINGS non_replicated_deduplication_window = 1000
COMMENT 'FIFO lots, one row a lot';
