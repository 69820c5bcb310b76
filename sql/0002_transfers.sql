-- One row is one token transfer of a tracked wallet: a token that moved in or out without a swap.
--   It is never a quote coin.
-- Written by: the fold worker, before anything is derived from it.
-- Read by: refolds, the trending worker, and analysts (view `transfers`).
-- Duplicates: as in `swaps`. All rows of one event key are one transfer, and the highest `version`
--   counts.
-- Units: raw token units, unix seconds of the block.
-- Projection `by_wallet` has the same rows in the order of a wallet, for refolds. Index `mints`
--   finds the transfers of one token when the trending worker first meets it.
CREATE TABLE IF NOT EXISTS transfers
(
    slot UInt64 COMMENT 'Slot of the transaction; first part of the event key' CODEC(Delta, ZSTD),
    tx_index UInt32 COMMENT 'Index of the transaction in its block; second part of the event key' CODEC(ZSTD),
    wallet UInt32 COMMENT 'Number n of the tracked wallet W<n>; third part of the event key' CODEC(ZSTD),
    event_index UInt32 COMMENT 'Place among the wallet''s events of the transaction; last part of the event key' CODEC(ZSTD),
    block_time UInt32 COMMENT 'Unix seconds of the block' CODEC(Delta, ZSTD),
    signature String COMMENT 'Base58 signature of the transaction; never published' CODEC(ZSTD),
    direction Enum8('in' = 1, 'out' = 2) COMMENT 'Seen from the wallet',
    mint String COMMENT 'Mint of the token' CODEC(ZSTD),
    amount UInt128 COMMENT 'Raw units, after the mint''s transfer fee' CODEC(ZSTD),
    decimals UInt8 COMMENT 'Decimals of the token',
    late Enum8('no' = 0, 'stream' = 1, 'backfill' = 2) DEFAULT 'no' COMMENT 'Whether it came after its slot was sealed, and where from; backfill also for what only a later decoding found',
    decoder_version UInt16 DEFAULT 0 COMMENT 'Version of the decoder that made this row; 0: not known' CODEC(ZSTD),
    version UInt64 DEFAULT 0 COMMENT 'Rises when the same transfer is decoded again' CODEC(ZSTD),
    is_deleted UInt8 DEFAULT 0 COMMENT '1: a later decoding found that there is no such transfer',
    inserted_at DateTime64(3, 'UTC') DEFAULT now64(3) COMMENT 'When this row was written' CODEC(Delta, ZSTD),
    time DateTime('UTC') ALIAS toDateTime(block_time, 'UTC') COMMENT 'block_time, for people',
    INDEX mints mint TYPE bloom_filter GRANULARITY 1,
    PROJECTION by_wallet (SELECT * ORDER BY wallet, slot, tx_index, event_index)
)
ENGINE = ReplacingMergeTree(version, is_deleted)
ORDER BY (slot, tx_index, wallet, event_index)
SETTINGS non_replicated_deduplication_window = 1000, deduplicate_merge_projection_mode = 'rebuild'
COMMENT 'Token transfers of tracked wallets, one row an event key';
