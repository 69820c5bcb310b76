-- One row is the first buy of a token by a wallet. Its entry market cap follows from it (rule C15):
--   entry_mcap in USD = mints.supply x value_lamports x sol_price_usd_e9 / (amount x 10^18), and
--   null if any of them is null.
-- Written by: the fold worker, when it folds that buy.
-- Read by: wallet aggregates and the Pro views, joined with `mints`; analysts.
-- Duplicates: all rows of one (mint, wallet) are versions of one buy, and the highest `version`
--   counts. Read with FINAL.
-- Units: raw token units, lamports, USD x 10^9 per SOL, unix seconds of the block. All columns
--   follow from the wallet's events alone.
CREATE TABLE IF NOT EXISTS first_buys
(
    mint String COMMENT 'Mint of the token' CODEC(ZSTD),
    wallet UInt32 COMMENT 'Number n of the tracked wallet W<n>',
    slot UInt64 COMMENT 'Slot of the buy' CODEC(Delta, ZSTD),
    tx_index UInt32 COMMENT 'Its transaction index' CODEC(ZSTD),
    event_index UInt32 COMMENT 'Its event index' CODEC(ZSTD),
    block_time UInt32 COMMENT 'Unix seconds of the buy' CODEC(Delta, ZSTD),
    amount UInt128 COMMENT 'Raw units bought' CODEC(ZSTD),
    value_lamports Nullable(UInt128) COMMENT 'What was paid, in lamports; null when the buy has no value' CODEC(ZSTD),
    sol_price_usd_e9 Nullable(UInt64) COMMENT 'USD x 10^9 for one SOL at the buy; null when none was known' CODEC(ZSTD),
    version UInt64 COMMENT 'Refolds of the wallet x 2^32 + records folded when the row was made' CODEC(ZSTD),
    is_deleted UInt8 DEFAULT 0 COMMENT '1: a refold found no buy of the token',
    time DateTime('UTC') ALIAS toDateTime(block_time, 'UTC') COMMENT 'block_time, for people'
)
ENGINE = ReplacingMergeTree(version, is_deleted)
ORDER BY (mint, wallet)
SETTINGS non_replicated_deduplication_window = 1000
COMMENT 'First buy of each token by each wallet, one row a wallet and mint';
