-- One row is one swap of a tracked wallet: base against quote. In its published form it is a trade.
-- Written by: the fold worker, before anything is derived from it.
-- Read by: `/trades`, `/tokens/{mint}/swaps`, refolds, and analysts (view `swaps`).
-- Duplicates: all rows of one event key are one swap. The highest `version` counts; if that row is
--   deleted, there is no such swap. Read with FINAL, or with `ORDER BY <key>, version DESC LIMIT 1
--   BY <key>`. No read may depend on merges.
-- Units: raw token units, lamports, USD x 10^9 per SOL, unix seconds of the block.
-- Projections `by_wallet` and `by_mint` hold the columns that refolds and `/tokens/{mint}/swaps`
--   read, in their order. They are in the same part as the rows, so they appear at the same
--   instant. ClickHouse uses a projection by itself if it has every column that a query names.
--   Neither has `signature`, `program_id`, `pool` or `inserted_at`. In `by_mint` a corrected row
--   may still lie under its former mint: index `corrected` finds such rows
--   (infra/decisions/read-orders.md).
CREATE TABLE IF NOT EXISTS swaps
(
    slot UInt64 COMMENT 'Slot of the transaction; first part of the event key' CODEC(Delta, ZSTD),
    tx_index UInt32 COMMENT 'Index of the transaction in its block; second part of the event key' CODEC(ZSTD),
    wallet UInt32 COMMENT 'Number n of the tracked wallet W<n>; third part of the event key' CODEC(ZSTD),
    event_index UInt32 COMMENT 'Place among the wallet''s events of the transaction; last part of the event key' CODEC(ZSTD),
    block_time UInt32 COMMENT 'Unix seconds of the block' CODEC(Delta, ZSTD),
    signature String COMMENT 'Base58 signature of the transaction; never published' CODEC(ZSTD),
    side Enum8('buy' = 1, 'sell' = 2) COMMENT 'What the wallet did with the base',
    base_mint String COMMENT 'Mint of the traded token' CODEC(ZSTD),
    base_amount UInt128 COMMENT 'Raw base units moved, above zero' CODEC(ZSTD),
    base_decimals UInt8 COMMENT 'Decimals of the base',
    quote_mint LowCardinality(Nullable(String)) COMMENT 'WSOL, USDC or USDT; null when no quote coin opposed the base',
    quote_amount UInt128 COMMENT 'Raw quote units; 0 without a quote' CODEC(ZSTD),
    program LowCardinality(String) COMMENT 'Venue or router, or unknown',
    program_id LowCardinality(String) COMMENT 'Outermost program that moved the base; never published',
    pool String DEFAULT '' COMMENT 'Pool, bonding curve or pair account through which the base went; empty: none known; never published' CODEC(ZSTD),
    confidence Enum8('high' = 1, 'delta_only' = 2) COMMENT 'high: read from an instruction; delta_only: from balance changes alone',
    quote_mismatch Bool COMMENT 'No clean opposing quote leg was found; such a swap has no value',
    fee_lamports UInt64 COMMENT 'Lamports a terminal or bot took beside the swap, not part of its value' CODEC(ZSTD),
    sol_price_usd_e9 Nullable(UInt64) COMMENT 'USD x 10^9 for one SOL at the swap; null without a quote coin, or while none is known' CODEC(ZSTD),
    value_lamports Nullable(UInt128) COMMENT 'What the quote is worth in lamports, rounded down; null when it has no value' CODEC(ZSTD),
    late Enum8('no' = 0, 'stream' = 1, 'backfill' = 2) DEFAULT 'no' COMMENT 'Whether it came after its slot was sealed, and where from; backfill also for what only a later decoding found',
    decoder_version UInt16 DEFAULT 0 COMMENT 'Version of the decoder that made this row; 0: not known' CODEC(ZSTD),
    version UInt64 DEFAULT 0 COMMENT 'Rises when the same swap is decoded or priced again' CODEC(ZSTD),
    is_deleted UInt8 DEFAULT 0 COMMENT '1: a later decoding found that there is no such swap',
    inserted_at DateTime64(3, 'UTC') DEFAULT now64(3) COMMENT 'When this row was written' CODEC(Delta, ZSTD),
    time DateTime('UTC') ALIAS toDateTime(block_time, 'UTC') COMMENT 'block_time, for people',
    INDEX corrected version TYPE minmax GRANULARITY 1,
    PROJECTION by_wallet
    (
        SELECT slot, tx_index, wallet, event_index, block_time, side, base_mint, base_amount, base_decimals, quote_mint, quote_amount, program, confidence,
            quote_mismatch, fee_lamports, sol_price_usd_e9, value_lamports, late, decoder_version, version, is_deleted
        ORDER BY wallet, slot, tx_index, event_index
    ),
    PROJECTION by_mint
    (
        SELECT slot, tx_index, wallet, event_index, block_time, side, base_mint, base_amount, base_decimals, quote_mint, quote_amount, program, confidence,
            quote_mismatch, sol_price_usd_e9, value_lamports, version, is_deleted
        ORDER BY base_mint, slot, tx_index, wallet, event_index
    )
    WITH SETTINGS (index_granularity = 256, min_bytes_for_wide_part = 1000000000000)
)
ENGINE = ReplacingMergeTree(version, is_deleted)
ORDER BY (slot, tx_index, wallet, event_index)
SETTINGS index_granularity = 1024, non_replicated_deduplication_window = 1000, deduplicate_merge_projection_mode = 'rebuild'
COMMENT 'Swaps of tracked wallets, one row an event key';
