-- One row is what the pool of a listed token held from one tick on, as far as the trending worker
--   took it into account. A row is written when it has changed. An empty `pool` means that the
--   state was no longer known, because nobody watched the pool. A row counts from the token's entry
--   on.
-- Written by: the trending worker, before it computes the tick.
-- Read by: the trending worker, also when it computes past ticks again.
-- Duplicates: all rows of one (at, mint) are one, and the one written last counts. Read with FINAL.
-- Units: raw units. One raw unit of `mint` costs price_quote / price_base raw units of
--   `quote_mint`.
CREATE TABLE IF NOT EXISTS pool_states
(
    at UInt32 COMMENT 'The tick: unix seconds, divisible by 10' CODEC(Delta, ZSTD),
    mint String COMMENT 'Mint of the token' CODEC(ZSTD),
    pool String COMMENT 'Address of the pool, bonding curve or pair; empty: not known from here on' CODEC(ZSTD),
    slot UInt64 COMMENT 'Slot at which the accounts were such' CODEC(Delta, ZSTD),
    quote_mint String COMMENT 'What the token trades against there' CODEC(ZSTD),
    quote_reserve UInt128 COMMENT 'Raw units of quote_mint in the pool' CODEC(ZSTD),
    price_quote UInt256 COMMENT 'Numerator of the price' CODEC(ZSTD),
    price_base UInt256 COMMENT 'Denominator of the price' CODEC(ZSTD),
    inserted_at DateTime64(3, 'UTC') DEFAULT now64(3) COMMENT 'When this row was written' CODEC(Delta, ZSTD)
)
ENGINE = ReplacingMergeTree
ORDER BY (at, mint)
SETTINGS non_replicated_deduplication_window = 1000
COMMENT 'Pools of listed tokens at ticks, one row a token and change';
