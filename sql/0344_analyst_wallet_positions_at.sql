-- compatible: adds a view of analysts
-- `wallet_positions_at` matches the events of one wallet up to a time, in SQL alone: raw, or strict
--   (rules L6, L14). FIFO means that the n-th unit that goes out is the n-th unit that came in. So
--   lots and takers are stretches of one line of units, which their ends cut into parts. A part has
--   one lot and one taker. With PRIVACY_SALT the events are the served ones (rule L13).
CREATE OR REPLACE VIEW {analyst}.wallet_positions_at
DEFINER = CURRENT_USER SQL SECURITY DEFINER
AS WITH
  ((amount, digits) -> toUInt256(rpad('1', 1 + greatest(length(toString(amount)), digits) - digits, '0'))) AS step_of,
  ((amount, digits) -> intDiv(toUInt256(amount) + intDiv(step_of(amount, digits), 2), step_of(amount, digits)) * step_of(amount, digits)) AS coarsen,
  (amount -> sign(amount) * toInt256(coarsen(abs(amount), 2))) AS coarsen_signed,
  -- Each event, as it was. Not by FINAL, which reads no projection: rows by wallet are in one.
  happened AS
  (
    SELECT slot, tx_index, event_index, block_time, base_mint AS mint, base_decimals AS decimals, side = 'buy' AS is_in, 1 AS is_swap, base_amount AS amount, value_lamports AS value
    FROM
    (
        SELECT slot, tx_index, event_index, block_time, base_mint, base_decimals, side, base_amount, value_lamports, is_deleted
        FROM swaps
        WHERE wallet = {wallet_number:UInt32} AND (SELECT throwIf({mode:String} NOT IN ('raw', 'strict'), 'mode is raw or strict')) = 0
        ORDER BY slot, tx_index, event_index, version DESC
        LIMIT 1 BY slot, tx_index, event_index
    )
    WHERE is_deleted = 0 AND block_time <= {at:UInt32} + 16
    UNION ALL
    SELECT slot, tx_index, event_index, block_time, mint, decimals, direction = 'in', 0, amount, CAST(NULL, 'Nullable(UInt128)')
    FROM
    (
        SELECT slot, tx_index, event_index, block_time, mint, decimals, direction, amount, is_deleted
        FROM transfers
        WHERE wallet = {wallet_number:UInt32} AND {mode:String} = 'raw'
        ORDER BY slot, tx_index, event_index, version DESC
        LIMIT 1 BY slot, tx_index, event_index
    )
    WHERE is_deleted = 0 AND block_time <= {at:UInt32} + 16
  ),
  -- As the mode folds it, and what it is worth: a lot has a cost, a sell a value or none.
  folded AS
  (
    WITH
      if(s.salt = '' OR NOT x.is_swap, '', HMAC('sha256', concat(reinterpretAsFixedString(x.slot), reinterpretAsFixedString(x.tx_index), reinterpretAsFixedString({wallet_number:UInt32}), reinterpretAsFixedString(x.event_index)), s.salt)) AS noise,
      900000 + bitAnd(reinterpretAsUInt64(substring(noise, 1, 8)), 281474976710655) % 200001 AS factor_ppm,
      3 + bitAnd(reinterpretAsUInt64(substring(noise, 7, 8)), 281474976710655) % 14 AS earlier_seconds,
      (amount -> greatest(toUInt256(amount > 0), intDiv(toUInt256(amount) * factor_ppm, 1000000))) AS perturb
    SELECT x.mint AS mint, x.decimals AS decimals, (x.slot, x.tx_index, x.event_index) AS place, x.is_in AS is_in,
      if(noise = '', x.block_time, toUInt32(x.block_time - earlier_seconds)) AS served_time,
      toInt256(if(noise = '', toUInt256(x.amount), perturb(x.amount))) AS amount,
      toInt256(if(noise = '', toUInt256(x.value), perturb(x.value))) AS value
    FROM happened AS x
    CROSS JOIN (SELECT argMax(salt, version) AS salt FROM privacy_salt) AS s
    WHERE x.amount > 0
  ),
  -- Units that came in, and that went out, up to each event.
  summed AS
  (
    SELECT *, sum(if(is_in, amount, toInt256(0))) OVER w AS came, sum(if(is_in, toInt256(0), amount)) OVER w AS went
    FROM folded
    WHERE served_time <= {at:UInt32}
    WINDOW w AS (PARTITION BY mint ORDER BY place ROWS BETWEEN UNBOUNDED PRECEDING AND CURRENT ROW)
  ),
  -- Units that were taken of lots: what goes out beyond all lots of its moment takes nothing.
  matched AS
  (
    SELECT *, went - greatest(toInt256(0), max(went - came) OVER w) AS taken
    FROM summed
    WINDOW w AS (PARTITION BY mint ORDER BY place ROWS BETWEEN UNBOUNDED PRECEDING AND CURRENT ROW)
  ),
  stretches AS
  (
    SELECT *, if(is_in, came, taken) AS end,
      taken - lagInFrame(taken, 1, toInt256(0)) OVER (PARTITION BY mint ORDER BY place ROWS BETWEEN UNBOUNDED PRECEDING AND CURRENT ROW) AS takes
    FROM matched
  ),
  -- The ends of lots and takers on the line.
  ends AS
  (
    SELECT mint, end, any(decimals) AS decimals, max(served_time) AS time,
      max(is_in) AS is_lot, anyIf(amount, is_in) AS lot_amount, anyIf(ifNull(value, toInt256(0)), is_in) AS lot_cost,
      max(takes > 0) AS is_take, max(takes > 0 AND value IS NOT NULL) AS is_valued,
      sumIf(intDiv(ifNull(value, toInt256(0)) * takes, amount), NOT is_in) AS proceeds
    FROM stretches
    GROUP BY mint, end
  ),
  -- The part of the line up to each end, with its lot and its taker: those with the next end.
  parts AS
  (
    SELECT *, bitShiftLeft(toInt256(1), 250) AS none,
      end - lagInFrame(end, 1, toInt256(0)) OVER (PARTITION BY mint ORDER BY end ROWS BETWEEN UNBOUNDED PRECEDING AND CURRENT ROW) AS units,
      min(if(is_lot, (end, lot_amount, lot_cost), (none, toInt256(1), toInt256(0)))) OVER later AS lot,
      min(if(is_take, (end, is_valued), (none, toUInt8(0)))) OVER later AS taker
    FROM ends
    WINDOW later AS (PARTITION BY mint ORDER BY end DESC ROWS BETWEEN UNBOUNDED PRECEDING AND CURRENT ROW)
  ),
  -- Its share of the cost of the lot, rounded down; the last part of a lot takes what is left.
  shares AS
  (
    SELECT *, if(taker.1 = none, toInt256(0), intDiv(lot.3 * units, lot.2)) AS share, lot.1 AS lot_end
    FROM parts
  ),
  costs AS
  (
    SELECT *,
      if(taker.1 != none AND end = lot_end, lot.3 - sum(share) OVER (PARTITION BY mint, lot_end ORDER BY end ROWS BETWEEN UNBOUNDED PRECEDING AND CURRENT ROW) + share, share) AS cost
    FROM shares
  ),
  positions AS
  (
    SELECT mint, any(decimals) AS decimals, max(time) AS changed_at,
      maxIf(end, is_lot) - maxIf(end, is_take) AS held,
      sumIf(lot_cost, is_lot) - sum(cost) AS open_cost,
      sum(proceeds) - sumIf(cost, taker.2) AS realized
    FROM costs
    GROUP BY mint
  ),
  traded AS
  (
    SELECT base_mint FROM swaps WHERE wallet = {wallet_number:UInt32}
    UNION ALL
    SELECT mint FROM transfers WHERE wallet = {wallet_number:UInt32} AND {mode:String} = 'raw'
  ),
  -- Prices by rule L5: of the pool, else of the newest swap of another wallet within a day.
  pools AS
  (
    SELECT mint, argMax((at, pool, quote_mint, price_quote, price_base), (at, inserted_at)) AS state
    FROM pool_states
    WHERE at <= {at:UInt32} AND mint IN (traded)
    GROUP BY mint
  ),
  swapped AS
  (
    SELECT base_mint AS mint, argMax((block_time, slot, tx_index, wallet, event_index, base_amount, value_lamports), (block_time, slot, tx_index, wallet, event_index)) AS swap
    FROM swaps FINAL
    WHERE block_time <= {at:UInt32} AND block_time + 86400 > {at:UInt32} AND base_mint IN (traded)
      AND wallet != {wallet_number:UInt32} AND confidence = 'high' AND base_amount > 0 AND value_lamports IS NOT NULL
    GROUP BY base_mint
  ),
  priced AS
  (
    WITH
      if(s.salt = '', 0, 3 + bitAnd(reinterpretAsUInt64(substring(HMAC('sha256', concat(reinterpretAsFixedString(t.swap.2), reinterpretAsFixedString(t.swap.3), reinterpretAsFixedString(t.swap.4), reinterpretAsFixedString(t.swap.5)), s.salt), 7, 8)), 281474976710655) % 14) AS earlier_seconds,
      l.state.3 = 'So11111111111111111111111111111111111111112' AS in_sol,
      l.state.3 IN ('EPjFWdd5AufqSSqeM2qN1xzybapC8G4wEGGkZwyTDt1v', 'Es9vMFrzaCERmJfrF4H2FYD4KCoNkY11McCe8BenwNYB') AS in_dollars,
      l.state.2 != '' AND l.state.5 > 0 AND (in_sol OR (in_dollars AND d.usd > 0)) AS has_pool,
      t.swap.1 > 0 AND t.swap.1 - earlier_seconds + 86400 > {at:UInt32} AS has_swap,
      multiIf(has_pool AND in_sol, l.state.4, has_pool, l.state.4 * toUInt256(1000000000000), toUInt256(ifNull(t.swap.7, 0))) AS lamports,
      multiIf(has_pool AND in_sol, l.state.5, has_pool, l.state.5 * toUInt256(d.usd), toUInt256(t.swap.6)) AS units
    SELECT p.mint AS mint, p.decimals AS decimals, p.changed_at AS changed_at, p.held AS held, p.open_cost AS open_cost, p.realized AS realized, s.salt != '' AS is_salted,
      multiIf(p.held = 0, NULL, has_pool, 'pool', has_swap, 'swap', NULL) AS price_source,
      multiIf(p.held = 0, NULL, has_pool, l.state.1, has_swap, toUInt32(t.swap.1 - earlier_seconds), NULL) AS price_time,
      if(price_source IS NULL OR toFloat64(p.held) * toFloat64(lamports) > 1e76, NULL, intDiv(toUInt256(p.held) * lamports, greatest(units, toUInt256(1)))) AS value
    FROM positions AS p
    LEFT JOIN pools AS l ON l.mint = p.mint
    LEFT JOIN swapped AS t ON t.mint = p.mint
    CROSS JOIN (SELECT argMax(salt, version) AS salt FROM privacy_salt) AS s
    CROSS JOIN (SELECT argMax(usd_e9, (time, source)) AS usd FROM sol_prices FINAL WHERE time <= {at:UInt32} AND time + 3600 >= {at:UInt32} AND usd_e9 > 0) AS d
  )
SELECT concat('W', toString({wallet_number:UInt32})) AS wallet, {wallet_number:UInt32} AS wallet_number, x.mint AS mint, x.decimals AS decimals,
  toUInt128(if(x.is_salted, coarsen(x.held, 2), toUInt256(x.held))) AS open_amount,
  toInt128(if(x.is_salted, coarsen_signed(x.open_cost), x.open_cost)) AS open_cost_lamports,
  toInt128(if(x.is_salted, coarsen_signed(x.realized), x.realized)) AS realized_lamports,
  toUInt256(if(x.is_salted, coarsen(x.value, 2), x.value)) AS value_lamports,
  if(x.is_salted, coarsen_signed(toInt256(value_lamports) - toInt256(open_cost_lamports)), toInt256(value_lamports) - toInt256(open_cost_lamports)) AS unrealized_lamports,
  x.price_source AS price_source, x.price_time AS price_time, x.changed_at AS changed_at,
  open_amount / exp10(decimals) AS open_tokens, open_cost_lamports / 1e9 AS open_cost_sol, realized_lamports / 1e9 AS realized_sol,
  value_lamports / 1e9 AS value_sol, unrealized_lamports / 1e9 AS unrealized_sol,
  toDateTime(price_time, 'UTC') AS price_time_utc, toDateTime(changed_at, 'UTC') AS changed_at_utc
FROM priced AS x
COMMENT 'Positions of one wallet as they were at a time, raw or strict, with what they were worth, one row a mint: wallet_positions_at(wallet_number = <n>, at = <unix seconds>, mode = <raw or strict>) gives wallet (alias), mint, decimals, open_amount (raw units in open lots), open_cost_lamports, realized_lamports, value_lamports and unrealized_lamports (null without a price), price_source (pool or swap), price_time, changed_at (unix seconds), and wallet_number, open_tokens, open_cost_sol, realized_sol, value_sol, unrealized_sol, price_time_utc, changed_at_utc';
