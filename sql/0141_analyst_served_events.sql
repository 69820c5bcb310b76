-- Replaces the views of events of 0014_analyst_views.sql. With PRIVACY_SALT they show what
--   customers are served (rules I2, I2a). Without a salt they show the same as before.
-- `noise`, `factor_ppm`, `earlier_seconds` and `perturb` do what createPerturb and perturbAmount of
--   pipeline/domain/perturbation.ts do: HMAC-SHA-256 over the event key (slot, tx_index, wallet,
--   event_index, little-endian). `coarsen` is that of pipeline/domain/coarsen.ts.
-- The salt is joined as a column. A scalar subquery would make it a constant of the query plan,
--   which EXPLAIN and error messages may show.
-- Transfers, balances and fees are coarsened to two digits, SOL prices to three. A fee is not
--   perturbed by the factor of its swap, because a well-known fee would reveal the factor.
-- `sol_balances` shows only the newest balance of a wallet, as the API does. The times at which a
--   balance changed would identify the wallet, however coarse the balance is.
CREATE OR REPLACE VIEW {analyst}.swaps
(
    wallet String COMMENT 'Alias of the wallet, for example W12',
    block_time UInt32 COMMENT 'Unix seconds of the block',
    side Enum8('buy' = 1, 'sell' = 2) COMMENT 'What the wallet did with the base',
    base_mint String COMMENT 'Mint of the traded token',
    base_amount UInt128 COMMENT 'Raw base units moved, above zero',
    base_decimals UInt8 COMMENT 'Decimals of the base',
    quote_mint LowCardinality(Nullable(String)) COMMENT 'WSOL, USDC or USDT; null when no quote coin opposed the base',
    quote_amount UInt128 COMMENT 'Raw quote units; 0 without a quote',
    program LowCardinality(String) COMMENT 'Venue or router, or unknown',
    confidence Enum8('high' = 1, 'delta_only' = 2) COMMENT 'high: read from an instruction; delta_only: from balance changes alone',
    quote_mismatch Bool COMMENT 'No clean opposing quote leg was found; such a swap has no value',
    fee_lamports UInt64 COMMENT 'Lamports a terminal or bot took beside the swap, not part of its value',
    sol_price_usd_e9 Nullable(UInt64) COMMENT 'USD x 10^9 for one SOL at the swap; null without a quote coin, or while none is known',
    value_lamports Nullable(UInt128) COMMENT 'What the quote is worth in lamports, rounded down; null when it has no value',
    time DateTime('UTC') COMMENT 'block_time, for people'
)
DEFINER = CURRENT_USER SQL SECURITY DEFINER
AS WITH
  if(s.salt = '', '', HMAC('sha256', concat(reinterpretAsFixedString(x.slot), reinterpretAsFixedString(x.tx_index), reinterpretAsFixedString(x.wallet), reinterpretAsFixedString(x.event_index)), s.salt)) AS noise,
  900000 + bitAnd(reinterpretAsUInt64(substring(noise, 1, 8)), 281474976710655) % 200001 AS factor_ppm,
  3 + bitAnd(reinterpretAsUInt64(substring(noise, 7, 8)), 281474976710655) % 14 AS earlier_seconds,
  (amount -> greatest(toUInt256(amount > 0), intDiv(toUInt256(amount) * factor_ppm, 1000000))) AS perturb,
  ((amount, digits) -> toUInt256(rpad('1', 1 + greatest(length(toString(amount)), digits) - digits, '0'))) AS step_of,
  ((amount, digits) -> intDiv(toUInt256(amount) + intDiv(step_of(amount, digits), 2), step_of(amount, digits)) * step_of(amount, digits)) AS coarsen
SELECT concat('W', toString(x.wallet)) AS wallet,
  if(s.salt = '', x.block_time, toUInt32(x.block_time - earlier_seconds)) AS block_time,
  x.side AS side,
  x.base_mint AS base_mint,
  if(s.salt = '', x.base_amount, perturb(x.base_amount)) AS base_amount,
  x.base_decimals AS base_decimals,
  x.quote_mint AS quote_mint,
  if(s.salt = '', x.quote_amount, perturb(x.quote_amount)) AS quote_amount,
  x.program AS program,
  x.confidence AS confidence,
  x.quote_mismatch AS quote_mismatch,
  if(s.salt = '', x.fee_lamports, coarsen(x.fee_lamports, 2)) AS fee_lamports,
  if(s.salt = '', x.sol_price_usd_e9, coarsen(x.sol_price_usd_e9, 3)) AS sol_price_usd_e9,
  if(s.salt = '', x.value_lamports, perturb(x.value_lamports)) AS value_lamports,
  toDateTime(block_time, 'UTC') AS time
FROM swaps AS x FINAL
CROSS JOIN (SELECT argMax(salt, version) AS salt FROM privacy_salt) AS s
COMMENT 'Swaps of tracked wallets, one row an event key';

CREATE OR REPLACE VIEW {analyst}.transfers
(
    wallet String COMMENT 'Alias of the wallet, for example W12',
    block_time UInt32 COMMENT 'Unix seconds of the block',
    direction Enum8('in' = 1, 'out' = 2) COMMENT 'Seen from the wallet',
    mint String COMMENT 'Mint of the token',
    amount UInt128 COMMENT 'Raw units, after the mint''s transfer fee',
    decimals UInt8 COMMENT 'Decimals of the token',
    time DateTime('UTC') COMMENT 'block_time, for people'
)
DEFINER = CURRENT_USER SQL SECURITY DEFINER
AS WITH
  if(s.salt = '', '', HMAC('sha256', concat(reinterpretAsFixedString(x.slot), reinterpretAsFixedString(x.tx_index), reinterpretAsFixedString(x.wallet), reinterpretAsFixedString(x.event_index)), s.salt)) AS noise,
  3 + bitAnd(reinterpretAsUInt64(substring(noise, 7, 8)), 281474976710655) % 14 AS earlier_seconds,
  ((amount, digits) -> toUInt256(rpad('1', 1 + greatest(length(toString(amount)), digits) - digits, '0'))) AS step_of,
  ((amount, digits) -> intDiv(toUInt256(amount) + intDiv(step_of(amount, digits), 2), step_of(amount, digits)) * step_of(amount, digits)) AS coarsen
SELECT concat('W', toString(x.wallet)) AS wallet,
  if(s.salt = '', x.block_time, toUInt32(x.block_time - earlier_seconds)) AS block_time,
  x.direction AS direction,
  x.mint AS mint,
  if(s.salt = '', x.amount, coarsen(x.amount, 2)) AS amount,
  x.decimals AS decimals,
  toDateTime(block_time, 'UTC') AS time
FROM transfers AS x FINAL
CROSS JOIN (SELECT argMax(salt, version) AS salt FROM privacy_salt) AS s
COMMENT 'Token transfers of tracked wallets, one row an event key';

CREATE OR REPLACE VIEW {analyst}.sol_transfers
(
    wallet String COMMENT 'Alias of the wallet, for example W12',
    block_time UInt32 COMMENT 'Unix seconds of the block',
    direction Enum8('in' = 1, 'out' = 2) COMMENT 'Seen from the wallet',
    lamports UInt64 COMMENT 'Lamports moved, above zero',
    time DateTime('UTC') COMMENT 'block_time, for people'
)
DEFINER = CURRENT_USER SQL SECURITY DEFINER
AS WITH
  if(s.salt = '', '', HMAC('sha256', concat(reinterpretAsFixedString(x.slot), reinterpretAsFixedString(x.tx_index), reinterpretAsFixedString(x.wallet), reinterpretAsFixedString(x.event_index)), s.salt)) AS noise,
  3 + bitAnd(reinterpretAsUInt64(substring(noise, 7, 8)), 281474976710655) % 14 AS earlier_seconds,
  ((amount, digits) -> toUInt256(rpad('1', 1 + greatest(length(toString(amount)), digits) - digits, '0'))) AS step_of,
  ((amount, digits) -> intDiv(toUInt256(amount) + intDiv(step_of(amount, digits), 2), step_of(amount, digits)) * step_of(amount, digits)) AS coarsen
SELECT concat('W', toString(x.wallet)) AS wallet,
  if(s.salt = '', x.block_time, toUInt32(x.block_time - earlier_seconds)) AS block_time,
  x.direction AS direction,
  if(s.salt = '', x.lamports, coarsen(x.lamports, 2)) AS lamports,
  toDateTime(block_time, 'UTC') AS time
FROM sol_transfers AS x FINAL
CROSS JOIN (SELECT argMax(salt, version) AS salt FROM privacy_salt) AS s
COMMENT 'SOL transfers of tracked wallets, one row an event key';

CREATE OR REPLACE VIEW {analyst}.sol_balances
(
    wallet String COMMENT 'Alias of the wallet, for example W12',
    block_time UInt32 COMMENT 'Unix seconds of the block',
    lamports UInt64 COMMENT 'Balance after the transaction',
    time DateTime('UTC') COMMENT 'block_time, for people'
)
DEFINER = CURRENT_USER SQL SECURITY DEFINER
AS WITH
  if(s.salt = '', '', HMAC('sha256', concat(reinterpretAsFixedString(x.slot), reinterpretAsFixedString(x.tx_index), reinterpretAsFixedString(x.wallet), reinterpretAsFixedString(toUInt32(0))), s.salt)) AS noise,
  3 + bitAnd(reinterpretAsUInt64(substring(noise, 7, 8)), 281474976710655) % 14 AS earlier_seconds,
  ((amount, digits) -> toUInt256(rpad('1', 1 + greatest(length(toString(amount)), digits) - digits, '0'))) AS step_of,
  ((amount, digits) -> intDiv(toUInt256(amount) + intDiv(step_of(amount, digits), 2), step_of(amount, digits)) * step_of(amount, digits)) AS coarsen
SELECT concat('W', toString(x.wallet)) AS wallet,
  if(s.salt = '', x.block_time, toUInt32(x.block_time - earlier_seconds)) AS block_time,
  if(s.salt = '', x.lamports, coarsen(x.lamports, 2)) AS lamports,
  toDateTime(block_time, 'UTC') AS time
FROM sol_balances AS x FINAL
CROSS JOIN (SELECT argMax(salt, version) AS salt FROM privacy_salt) AS s
WHERE s.salt = '' OR (x.wallet, x.slot, x.tx_index) IN
(
    SELECT wallet, (max((slot, tx_index)) AS newest).1, newest.2
    FROM sol_balances
    WHERE (SELECT argMax(salt, version) != '' FROM privacy_salt)
    GROUP BY wallet
)
COMMENT 'SOL balances of tracked wallets after each transaction that names them; with PRIVACY_SALT the newest of each wallet';
