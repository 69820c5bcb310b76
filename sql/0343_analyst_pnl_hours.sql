-- compatible: adds a view of analysts
-- `pnl_hours` sums `profit_hours` over the tokens of a wallet (rule L14). The rows of that table
--   are folded from the swaps that are served, at their served times (rule L13), so with
--   PRIVACY_SALT only the sums are to be rounded, to two digits as everywhere (rule I2a).
CREATE OR REPLACE VIEW {analyst}.pnl_hours
(
    wallet String COMMENT 'Alias of the wallet, for example W12',
    wallet_number UInt32 COMMENT 'The number in the alias: 12 of W12. A condition on it is faster than one on the alias',
    hour UInt32 COMMENT 'Unix seconds at which the hour begins (UTC)',
    hour_utc DateTime('UTC') COMMENT 'hour as a time',
    trades UInt64 COMMENT 'Swaps: buys and sells',
    volume_lamports UInt128 COMMENT 'Sum of the values of swaps that have one',
    realized_lamports Int128 COMMENT 'Realised FIFO profit of the sells of the hour, transfers counted (mode raw)',
    strict_realized_lamports Int128 COMMENT 'Realised FIFO profit of the sells of the hour by swaps alone (mode strict)',
    volume_sol Float64 COMMENT 'volume_lamports in SOL, as a double',
    realized_sol Float64 COMMENT 'realized_lamports in SOL, as a double',
    strict_realized_sol Float64 COMMENT 'strict_realized_lamports in SOL, as a double'
)
DEFINER = CURRENT_USER SQL SECURITY DEFINER
AS WITH
  ((amount, digits) -> toUInt256(rpad('1', 1 + greatest(length(toString(amount)), digits) - digits, '0'))) AS step_of,
  ((amount, digits) -> intDiv(toUInt256(amount) + intDiv(step_of(amount, digits), 2), step_of(amount, digits)) * step_of(amount, digits)) AS coarsen,
  (amount -> sign(amount) * toInt256(coarsen(abs(amount), 2))) AS coarsen_signed
SELECT concat('W', toString(h.wallet_number)) AS wallet,
  h.wallet_number AS wallet_number,
  h.hour AS hour,
  toDateTime(h.hour, 'UTC') AS hour_utc,
  h.trades AS trades,
  toUInt128(if(s.salt = '', toUInt256(h.volume), coarsen(h.volume, 2))) AS volume_lamports,
  toInt128(if(s.salt = '', toInt256(h.realized), coarsen_signed(h.realized))) AS realized_lamports,
  toInt128(if(s.salt = '', toInt256(h.strict_realized), coarsen_signed(h.strict_realized))) AS strict_realized_lamports,
  volume_lamports / 1e9 AS volume_sol,
  realized_lamports / 1e9 AS realized_sol,
  strict_realized_lamports / 1e9 AS strict_realized_sol
FROM
(
    SELECT x.wallet AS wallet_number, x.hour AS hour, sum(x.trades) AS trades, sum(x.volume_lamports) AS volume,
      sum(x.realized_lamports) AS realized, sum(x.strict_realized_lamports) AS strict_realized
    FROM profit_hours AS x FINAL
    GROUP BY x.wallet, x.hour
) AS h
CROSS JOIN (SELECT argMax(salt, version) AS salt FROM privacy_salt) AS s
COMMENT 'Trades and realised profit of wallets, one row a wallet and hour with a swap';
