-- compatible: adds a view of analysts
-- One row is a token and a minute in which tracked wallets swapped it with a value: at what price.
--   It is computed from view `swaps` (0181_analyst_events.sql), so with PRIVACY_SALT from what is
--   served. A late swap changes its minute.
CREATE OR REPLACE VIEW {analyst}.token_prices
(
    mint String COMMENT 'Mint of the token',
    minute UInt32 COMMENT 'Unix seconds at which the minute begins',
    minute_utc DateTime('UTC') COMMENT 'minute as a time',
    price_sol Float64 COMMENT 'SOL for one whole token: the mean over the minute, weighted by amount, as a double',
    price_usd Nullable(Float64) COMMENT 'price_sol at the mean SOL price of the swaps; null while none is known',
    swaps UInt64 COMMENT 'Swaps with a value in the minute',
    volume_sol Float64 COMMENT 'Their values, in SOL, as a double'
)
DEFINER = CURRENT_USER SQL SECURITY DEFINER
AS SELECT x.base_mint AS mint,
  toUnixTimestamp(minute_utc) AS minute,
  toStartOfMinute(x.block_time_utc) AS minute_utc,
  sum(x.value_sol) / sum(x.base_tokens) AS price_sol,
  price_sol * avg(x.sol_price_usd) AS price_usd,
  count() AS swaps,
  sum(x.value_sol) AS volume_sol
FROM {analyst}.swaps AS x
WHERE x.value_lamports IS NOT NULL AND x.base_amount > 0
GROUP BY x.base_mint, minute_utc
COMMENT 'Prices of tokens at which tracked wallets traded, one row a token and minute';
