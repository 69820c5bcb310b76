-- One row is a SOL/USD price at one second, from one source.
-- Written by: the fold worker (source pool, from slot markers), each process that is given SOL_PRICES_FILE (source file). Read by: the price fill, analysts.
-- Duplicates: rows of one (time, source) are one price; the one written last counts. Read with FINAL. Of one second the file's price goes before the pool's.
-- A swap keeps the price that it was valued at (swaps.sol_price_usd_e9); a row that comes or
--   changes here later replaces none (rule C1).
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
