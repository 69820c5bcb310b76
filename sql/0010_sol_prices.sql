-- One row is a SOL/USD price at one second, from one source.
-- Written by: the fold worker (source `pool`, from slot markers), and each process that has
--   SOL_PRICES_FILE (source `file`).
-- Read by: the worker that fills in missing prices, and analysts.
-- Duplicates: all rows of one (time, source) are one price, and the one written last counts. Read
--   with FINAL. If a second has both prices, the file's counts.
-- A swap keeps the price at which it was valued (`swaps.sol_price_usd_e9`). A row that arrives or
--   changes here later does not replace it (rule C1).
-- Units: USD x 10^9 for one SOL, unix seconds.
CREATE TABLE IF NOT EXISTS sol_prices
(
    time UInt32 COMMENT 'Unix seconds at which the price held' CODEC(Delta, ZSTD),
    source Enum8('pool' = 1, 'file' = 2) COMMENT 'pool: the SOL/USDC pool account on the stream; file: loaded history',
    usd_e9 UInt64 COMMENT 'USD x 10^9 for one SOL' CODEC(ZSTD),
    inserted_at DateTime64(3, 'UTC') DEFAULT now64(3) COMMENT 'When this row was written' CODEC(Delta, ZSTD)
)
ENGINE = ReplacingMergeTree
ORDER BY (time, source)
SETTINGS non_replicated_deduplication_window = 1000
COMMENT 'SOL/USD prices with their source';
