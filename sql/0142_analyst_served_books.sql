-- Replaces the views of lots, disposals, positions, first buys, coverage and mints: see
--   0141_analyst_served_events.sql. Without a salt they show the same as before. With a salt:
-- Bought lots have the amount and cost of their buy as served. What is left of a lot, and what
--   other events took from it, is perturbed by the factor of the lot, and proceeds by that of the
--   sell. Both are then coarsened to two digits, because exact shares would reveal how the factors
--   relate, and they could then be averaged out. So sums over lots and disposals do not add up
--   exactly.
-- Positions have the sums of trades that holdings serve. Their FIFO sums are coarsened.
-- `coverage` is rounded up to the hour. `mints.fetched_at` is rounded down, because mints are
--   fetched when they are first traded.
CREATE OR REPLACE VIEW {analyst}.lots
(
    wallet String COMMENT 'Alias of the wallet, for example W12',
    mint String COMMENT 'Mint of the token',
    block_time UInt32 COMMENT 'Unix seconds of that event',
    origin Enum8('buy' = 1, 'transfer' = 2) COMMENT 'Whether the tokens were bought or came by transfer (zero cost)',
    amount UInt128 COMMENT 'Raw units as the lot was made',
    cost_lamports UInt128 COMMENT 'Cost as the lot was made; 0 for a transfer and for a buy without a value',
    left_amount UInt128 COMMENT 'Raw units still held; 0 when the lot is used up',
    left_cost_lamports UInt128 COMMENT 'Cost of the units still held',
    quick_sold_amount UInt128 COMMENT 'Of a bought lot: units that sells consumed at most 15 s after the buy',
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
  x.mint AS mint,
  if(s.salt = '', x.block_time, toUInt32(x.block_time - earlier_seconds)) AS block_time,
  x.origin AS origin,
  multiIf(s.salt = '', x.amount, x.origin = 'buy', perturb(x.amount), coarsen(x.amount, 2)) AS amount,
  multiIf(s.salt = '', x.cost_lamports, x.origin = 'buy', perturb(x.cost_lamports), coarsen(x.cost_lamports, 2)) AS cost_lamports,
  multiIf(s.salt = '', x.left_amount, x.origin = 'buy', if(x.left_amount = x.amount, perturb(x.left_amount), coarsen(perturb(x.left_amount), 2)), coarsen(x.left_amount, 2)) AS left_amount,
  multiIf(s.salt = '', x.left_cost_lamports, x.origin = 'buy', if(x.left_amount = x.amount, perturb(x.left_cost_lamports), coarsen(perturb(x.left_cost_lamports), 2)), coarsen(x.left_cost_lamports, 2)) AS left_cost_lamports,
  multiIf(s.salt = '', x.quick_sold_amount, x.origin = 'buy', coarsen(perturb(x.quick_sold_amount), 2), coarsen(x.quick_sold_amount, 2)) AS quick_sold_amount,
  toDateTime(block_time, 'UTC') AS time
FROM lots AS x FINAL
CROSS JOIN (SELECT argMax(salt, version) AS salt FROM privacy_salt) AS s
COMMENT 'FIFO lots, one row a lot';

CREATE OR REPLACE VIEW {analyst}.disposals
(
    wallet String COMMENT 'Alias of the wallet, for example W12',
    mint String COMMENT 'Mint of the token',
    kind Enum8('sell' = 1, 'transfer_out' = 2) COMMENT 'What took the units; only a sell realises profit',
    block_time UInt32 COMMENT 'Unix seconds of the sell or transfer out',
    lot_time UInt32 COMMENT 'Unix seconds of the event that made the lot',
    lot_origin Enum8('buy' = 1, 'transfer' = 2) COMMENT 'Whether the lot was bought or came by transfer',
    amount UInt128 COMMENT 'Raw units taken',
    cost_lamports UInt128 COMMENT 'Their share of the lot''s cost, rounded down; the lot''s last part takes what is left',
    proceeds_lamports Nullable(UInt128) COMMENT 'Their share of the sell''s value; null for a transfer and for a sell without a value',
    profit_lamports Nullable(Int128) COMMENT 'Realised profit: proceeds less cost; null where proceeds are',
    time DateTime('UTC') COMMENT 'block_time, for people'
)
DEFINER = CURRENT_USER SQL SECURITY DEFINER
AS WITH
  if(s.salt = '', '', HMAC('sha256', concat(reinterpretAsFixedString(x.slot), reinterpretAsFixedString(x.tx_index), reinterpretAsFixedString(x.wallet), reinterpretAsFixedString(x.event_index)), s.salt)) AS noise,
  900000 + bitAnd(reinterpretAsUInt64(substring(noise, 1, 8)), 281474976710655) % 200001 AS factor_ppm,
  3 + bitAnd(reinterpretAsUInt64(substring(noise, 7, 8)), 281474976710655) % 14 AS earlier_seconds,
  (amount -> greatest(toUInt256(amount > 0), intDiv(toUInt256(amount) * factor_ppm, 1000000))) AS perturb,
  if(s.salt = '', '', HMAC('sha256', concat(reinterpretAsFixedString(x.lot_slot), reinterpretAsFixedString(x.lot_tx_index), reinterpretAsFixedString(x.wallet), reinterpretAsFixedString(x.lot_event_index)), s.salt)) AS lot_noise,
  900000 + bitAnd(reinterpretAsUInt64(substring(lot_noise, 1, 8)), 281474976710655) % 200001 AS lot_factor_ppm,
  3 + bitAnd(reinterpretAsUInt64(substring(lot_noise, 7, 8)), 281474976710655) % 14 AS lot_earlier_seconds,
  (amount -> greatest(toUInt256(amount > 0), intDiv(toUInt256(amount) * lot_factor_ppm, 1000000))) AS lot_perturb,
  ((amount, digits) -> toUInt256(rpad('1', 1 + greatest(length(toString(amount)), digits) - digits, '0'))) AS step_of,
  ((amount, digits) -> intDiv(toUInt256(amount) + intDiv(step_of(amount, digits), 2), step_of(amount, digits)) * step_of(amount, digits)) AS coarsen
SELECT concat('W', toString(x.wallet)) AS wallet,
  x.mint AS mint,
  x.kind AS kind,
  if(s.salt = '', x.block_time, toUInt32(x.block_time - earlier_seconds)) AS block_time,
  if(s.salt = '', x.lot_time, toUInt32(x.lot_time - lot_earlier_seconds)) AS lot_time,
  x.lot_origin AS lot_origin,
  multiIf(s.salt = '', x.amount, x.lot_origin = 'buy', coarsen(lot_perturb(x.amount), 2), coarsen(x.amount, 2)) AS amount,
  if(s.salt = '', x.cost_lamports, coarsen(lot_perturb(x.cost_lamports), 2)) AS cost_lamports,
  if(s.salt = '', x.proceeds_lamports, coarsen(perturb(x.proceeds_lamports), 2)) AS proceeds_lamports,
  if(s.salt = '', x.profit_lamports, toInt256(proceeds_lamports) - toInt256(cost_lamports)) AS profit_lamports,
  toDateTime(block_time, 'UTC') AS time
FROM disposals AS x FINAL
CROSS JOIN (SELECT argMax(salt, version) AS salt FROM privacy_salt) AS s
COMMENT 'FIFO matches, one row a lot and event';

CREATE OR REPLACE VIEW {analyst}.positions
(
    wallet String COMMENT 'Alias of the wallet, for example W12',
    mint String COMMENT 'Mint of the token',
    decimals UInt8 COMMENT 'Decimals of the token',
    buys UInt64 COMMENT 'Buy swaps',
    sells UInt64 COMMENT 'Sell swaps',
    bought_amount UInt128 COMMENT 'Raw units bought by swaps',
    sold_amount UInt128 COMMENT 'Raw units sold by swaps; held = bought_amount - sold_amount, transfers left out',
    bought_lamports Int128 COMMENT 'Sum of the values of buys',
    sold_lamports Int128 COMMENT 'Sum of the values of sells',
    first_buy_time Nullable(UInt32) COMMENT 'Unix seconds of the first buy; null without one',
    first_trade_time Nullable(UInt32) COMMENT 'Unix seconds of the first swap; null without one',
    last_trade_time Nullable(UInt32) COMMENT 'Unix seconds of the newest swap; null without one',
    open_amount UInt128 COMMENT 'Raw units in open lots, transfers counted',
    open_cost_lamports Int128 COMMENT 'Cost of the open lots',
    realized_lamports Int128 COMMENT 'Realised FIFO profit',
    valued_sells UInt64 COMMENT 'Sells that have a value; the token counts for the win rate when above 0',
    exit_seconds Nullable(Int64) COMMENT 'From first buy to the latest sell that brought sold to 90% of bought; null while not exited'
)
DEFINER = CURRENT_USER SQL SECURITY DEFINER
AS WITH
  ((amount, digits) -> toUInt256(rpad('1', 1 + greatest(length(toString(amount)), digits) - digits, '0'))) AS step_of,
  ((amount, digits) -> intDiv(toUInt256(amount) + intDiv(step_of(amount, digits), 2), step_of(amount, digits)) * step_of(amount, digits)) AS coarsen,
  (amount -> sign(amount) * toInt256(coarsen(abs(amount), 2))) AS coarsen_signed
SELECT concat('W', toString(x.wallet)) AS wallet,
  x.mint AS mint,
  x.decimals AS decimals,
  x.buys AS buys,
  x.sells AS sells,
  x.served_bought_amount AS bought_amount,
  x.served_sold_amount AS sold_amount,
  x.served_bought_lamports AS bought_lamports,
  x.served_sold_lamports AS sold_lamports,
  x.served_first_buy_time AS first_buy_time,
  x.served_first_trade_time AS first_trade_time,
  x.served_last_trade_time AS last_trade_time,
  if(s.salt = '', x.open_amount, coarsen(x.open_amount, 2)) AS open_amount,
  if(s.salt = '', x.open_cost_lamports, coarsen_signed(x.open_cost_lamports)) AS open_cost_lamports,
  if(s.salt = '', x.realized_lamports, coarsen_signed(x.realized_lamports)) AS realized_lamports,
  x.valued_sells AS valued_sells,
  if(s.salt = '', x.exit_seconds, coarsen_signed(x.exit_seconds)) AS exit_seconds
FROM positions AS x FINAL
CROSS JOIN (SELECT argMax(salt, version) AS salt FROM privacy_salt) AS s
COMMENT 'What each wallet did with each token, one row a wallet and mint';

-- Coarsened sums of what had happened by served times.
CREATE OR REPLACE VIEW {analyst}.positions_at
DEFINER = CURRENT_USER SQL SECURITY DEFINER
AS WITH
  ((amount, digits) -> toUInt256(rpad('1', 1 + greatest(length(toString(amount)), digits) - digits, '0'))) AS step_of,
  ((amount, digits) -> intDiv(toUInt256(amount) + intDiv(step_of(amount, digits), 2), step_of(amount, digits)) * step_of(amount, digits)) AS coarsen,
  (amount -> sign(amount) * toInt256(coarsen(abs(amount), 2))) AS coarsen_signed
SELECT concat('W', toString(x.wallet)) AS wallet, x.mint AS mint,
  toUInt128(if(any(x.is_salted), coarsen(toUInt256(greatest(sum(x.amount), 0)), 2), toUInt256(sum(x.amount)))) AS open_amount,
  toInt128(if(any(x.is_salted), coarsen_signed(greatest(sum(x.cost), 0)), sum(x.cost))) AS open_cost_lamports,
  toInt128(if(any(x.is_salted), coarsen_signed(sum(x.profit)), sum(x.profit))) AS realized_lamports, max(x.block_time) AS changed_at
FROM
(
    WITH
  if(s.salt = '', '', HMAC('sha256', concat(reinterpretAsFixedString(x.slot), reinterpretAsFixedString(x.tx_index), reinterpretAsFixedString(x.wallet), reinterpretAsFixedString(x.event_index)), s.salt)) AS noise,
  3 + bitAnd(reinterpretAsUInt64(substring(noise, 7, 8)), 281474976710655) % 14 AS earlier_seconds
    SELECT x.wallet AS wallet, x.mint AS mint, if(s.salt = '', x.block_time, toUInt32(x.block_time - earlier_seconds)) AS block_time, s.salt != '' AS is_salted, x.amount AS amount, x.cost AS cost, x.profit AS profit
    FROM
    (
        SELECT wallet, mint, slot, tx_index, event_index, block_time, toInt256(amount) AS amount, toInt256(cost_lamports) AS cost, toInt256(0) AS profit
        FROM lots FINAL WHERE block_time <= {at:UInt32} + 16
        UNION ALL
        SELECT wallet, mint, slot, tx_index, event_index, block_time, -toInt256(amount), -toInt256(cost_lamports), toInt256(ifNull(profit_lamports, 0))
        FROM disposals FINAL WHERE block_time <= {at:UInt32} + 16
    ) AS x
    CROSS JOIN (SELECT argMax(salt, version) AS salt FROM privacy_salt) AS s
) AS x
WHERE x.block_time <= {at:UInt32}
GROUP BY x.wallet, x.mint
COMMENT 'Positions as they were at a time, one row a wallet and mint: positions_at(at = <unix seconds>) gives wallet (alias), mint, open_amount (raw units in open lots), open_cost_lamports, realized_lamports, changed_at (unix seconds)';

CREATE OR REPLACE VIEW {analyst}.first_buys
(
    wallet String COMMENT 'Alias of the wallet, for example W12',
    mint String COMMENT 'Mint of the token',
    block_time UInt32 COMMENT 'Unix seconds of the buy',
    amount UInt128 COMMENT 'Raw units bought',
    value_lamports Nullable(UInt128) COMMENT 'What was paid, in lamports; null when the buy has no value',
    sol_price_usd_e9 Nullable(UInt64) COMMENT 'USD x 10^9 for one SOL at the buy; null when none was known',
    supply Nullable(UInt64) COMMENT 'Raw units of the token in all; null until known',
    entry_mcap_usd_e6 Nullable(UInt128) COMMENT 'Market cap at the buy in USD x 10^6, rounded down: supply x value / amount in SOL, x the price of SOL; null until all are known',
    time DateTime('UTC') COMMENT 'block_time, for people'
)
DEFINER = CURRENT_USER SQL SECURITY DEFINER
AS WITH
  if(s.salt = '', '', HMAC('sha256', concat(reinterpretAsFixedString(x.slot), reinterpretAsFixedString(x.tx_index), reinterpretAsFixedString(x.wallet), reinterpretAsFixedString(x.event_index)), s.salt)) AS noise,
  900000 + bitAnd(reinterpretAsUInt64(substring(noise, 1, 8)), 281474976710655) % 200001 AS factor_ppm,
  3 + bitAnd(reinterpretAsUInt64(substring(noise, 7, 8)), 281474976710655) % 14 AS earlier_seconds,
  (amount -> greatest(toUInt256(amount > 0), intDiv(toUInt256(amount) * factor_ppm, 1000000))) AS perturb
SELECT concat('W', toString(x.wallet)) AS wallet,
  x.mint AS mint,
  if(s.salt = '', x.block_time, toUInt32(x.block_time - earlier_seconds)) AS block_time,
  if(s.salt = '', x.amount, perturb(x.amount)) AS amount,
  if(s.salt = '', x.value_lamports, perturb(x.value_lamports)) AS value_lamports,
  x.sol_price_usd_e9 AS sol_price_usd_e9,
  m.supply AS supply,
  accurateCastOrNull(intDiv(toUInt256(m.supply) * toUInt256(x.value_lamports) * toUInt256(x.sol_price_usd_e9), toUInt256(x.amount) * toUInt256('1000000000000')), 'UInt128') AS entry_mcap_usd_e6,
  toDateTime(block_time, 'UTC') AS time
FROM first_buys AS x FINAL
CROSS JOIN (SELECT argMax(salt, version) AS salt FROM privacy_salt) AS s
LEFT JOIN (SELECT mint, supply FROM mints FINAL) AS m ON m.mint = x.mint
COMMENT 'First buy of each token by each wallet, with the market cap at it';

CREATE OR REPLACE VIEW {analyst}.coverage
(
    wallet String COMMENT 'Alias of the wallet, for example W12',
    complete_since UInt32 COMMENT 'Unix seconds of the block from which on everything that the wallet did is stored, but for gaps that are being backfilled',
    time DateTime('UTC') COMMENT 'complete_since, for people'
)
DEFINER = CURRENT_USER SQL SECURITY DEFINER
AS WITH
  intDiv(x.since_time + 3599, 3600) * 3600 AS next_hour
SELECT concat('W', toString(x.wallet)) AS wallet,
  if(s.salt = '', x.since_time, toUInt32(next_hour)) AS complete_since,
  toDateTime(complete_since, 'UTC') AS time
FROM wallet_coverage AS x FINAL
CROSS JOIN (SELECT argMax(salt, version) AS salt FROM privacy_salt) AS s
COMMENT 'Since when the history of a wallet is complete; a wallet without a row is not covered yet';

CREATE OR REPLACE VIEW {analyst}.mints
(
    mint String COMMENT 'Mint of the token',
    token_program Enum8('none' = 0, 'spl_token' = 1, 'token_2022' = 2) COMMENT 'Program of the mint; none when RPC has no such mint',
    decimals Nullable(UInt8) COMMENT 'Decimals of the token; null when RPC has no such mint',
    supply Nullable(UInt64) COMMENT 'Raw units in all, as first fetched; null when RPC has no such mint',
    symbol String COMMENT 'What the token calls itself for short, chosen by strangers; empty when it does not say',
    name String COMMENT 'What the token calls itself, chosen by strangers; empty when it does not say',
    metadata Enum8('none' = 0, 'token_2022' = 1, 'metaplex' = 2) COMMENT 'Where symbol and name come from; none when there is no metadata',
    fetched_at Nullable(UInt32) COMMENT 'Unix seconds at which decimals and supply were fetched'
)
DEFINER = CURRENT_USER SQL SECURITY DEFINER
AS WITH
  intDiv(x.fetched_at, 3600) * 3600 AS hour
SELECT x.mint AS mint,
  x.token_program AS token_program,
  x.decimals AS decimals,
  x.supply AS supply,
  x.symbol AS symbol,
  x.name AS name,
  x.metadata AS metadata,
  if(s.salt = '', x.fetched_at, toUInt32(hour)) AS fetched_at
FROM mints AS x FINAL
CROSS JOIN (SELECT argMax(salt, version) AS salt FROM privacy_salt) AS s
COMMENT 'Facts about traded tokens, one row a mint';
