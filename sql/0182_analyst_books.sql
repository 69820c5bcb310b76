-- compatible: replaces views of analysts
-- Adds columns to the views of what follows from events, as 0181_analyst_events.sql does to those
--   of events. All other columns are as before.
CREATE OR REPLACE VIEW {analyst}.lots
(
    wallet String COMMENT 'Alias of the wallet, for example W12',
    wallet_number UInt32 COMMENT 'The number in the alias: 12 of W12. A condition on it is faster than one on the alias',
    mint String COMMENT 'Mint of the token',
    block_time UInt32 COMMENT 'Unix seconds of that event',
    origin Enum8('buy' = 1, 'transfer' = 2) COMMENT 'Whether the tokens were bought or came by transfer (zero cost)',
    amount UInt128 COMMENT 'Raw units as the lot was made',
    cost_lamports UInt128 COMMENT 'Cost as the lot was made; 0 for a transfer and for a buy without a value',
    left_amount UInt128 COMMENT 'Raw units still held; 0 when the lot is used up',
    left_cost_lamports UInt128 COMMENT 'Cost of the units still held',
    quick_sold_amount UInt128 COMMENT 'Of a bought lot: units that sells consumed at most 15 s after the buy',
    time DateTime('UTC') COMMENT 'block_time, for people',
    event_id String COMMENT 'Of the event that made the lot, as in the view of that event',
    block_time_utc DateTime('UTC') COMMENT 'block_time as a time',
    cost_sol Float64 COMMENT 'cost_lamports in SOL, as a double',
    left_cost_sol Float64 COMMENT 'left_cost_lamports in SOL, as a double'
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
  x.wallet AS wallet_number,
  x.mint AS mint,
  if(s.salt = '', x.block_time, toUInt32(x.block_time - earlier_seconds)) AS block_time,
  x.origin AS origin,
  multiIf(s.salt = '', x.amount, x.origin = 'buy', perturb(x.amount), coarsen(x.amount, 2)) AS amount,
  multiIf(s.salt = '', x.cost_lamports, x.origin = 'buy', perturb(x.cost_lamports), coarsen(x.cost_lamports, 2)) AS cost_lamports,
  multiIf(s.salt = '', x.left_amount, x.origin = 'buy', if(x.left_amount = x.amount, perturb(x.left_amount), coarsen(perturb(x.left_amount), 2)), coarsen(x.left_amount, 2)) AS left_amount,
  multiIf(s.salt = '', x.left_cost_lamports, x.origin = 'buy', if(x.left_amount = x.amount, perturb(x.left_cost_lamports), coarsen(perturb(x.left_cost_lamports), 2)), coarsen(x.left_cost_lamports, 2)) AS left_cost_lamports,
  multiIf(s.salt = '', x.quick_sold_amount, x.origin = 'buy', coarsen(perturb(x.quick_sold_amount), 2), coarsen(x.quick_sold_amount, 2)) AS quick_sold_amount,
  toDateTime(block_time, 'UTC') AS time,
  if(throwIf(k.key = '', 'there is no key of event ids yet: the next start of a worker makes it'), '', lower(hex(substring(HMAC('sha256', concat(reinterpretAsFixedString(x.slot), reinterpretAsFixedString(x.tx_index), reinterpretAsFixedString(x.wallet), reinterpretAsFixedString(x.event_index), s.salt), k.key), 1, 16)))) AS event_id,
  toDateTime(block_time, 'UTC') AS block_time_utc,
  cost_lamports / 1e9 AS cost_sol,
  left_cost_lamports / 1e9 AS left_cost_sol
FROM lots AS x FINAL
CROSS JOIN (SELECT min(key) AS key FROM event_id_key) AS k
CROSS JOIN (SELECT argMax(salt, version) AS salt FROM privacy_salt) AS s
COMMENT 'FIFO lots, one row a lot';

CREATE OR REPLACE VIEW {analyst}.disposals
(
    wallet String COMMENT 'Alias of the wallet, for example W12',
    wallet_number UInt32 COMMENT 'The number in the alias: 12 of W12. A condition on it is faster than one on the alias',
    mint String COMMENT 'Mint of the token',
    kind Enum8('sell' = 1, 'transfer_out' = 2) COMMENT 'What took the units; only a sell realises profit',
    block_time UInt32 COMMENT 'Unix seconds of the sell or transfer out',
    lot_time UInt32 COMMENT 'Unix seconds of the event that made the lot',
    lot_origin Enum8('buy' = 1, 'transfer' = 2) COMMENT 'Whether the lot was bought or came by transfer',
    amount UInt128 COMMENT 'Raw units taken',
    cost_lamports UInt128 COMMENT 'Their share of the lot''s cost, rounded down; the lot''s last part takes what is left',
    proceeds_lamports Nullable(UInt128) COMMENT 'Their share of the sell''s value; null for a transfer and for a sell without a value',
    profit_lamports Nullable(Int128) COMMENT 'Realised profit: proceeds less cost; null where proceeds are',
    time DateTime('UTC') COMMENT 'block_time, for people',
    event_id String COMMENT 'Of the sell or transfer out, as in the view of that event',
    lot_event_id String COMMENT 'Of the event that made the lot',
    block_time_utc DateTime('UTC') COMMENT 'block_time as a time',
    lot_time_utc DateTime('UTC') COMMENT 'lot_time as a time',
    cost_sol Float64 COMMENT 'cost_lamports in SOL, as a double',
    proceeds_sol Nullable(Float64) COMMENT 'proceeds_lamports in SOL, as a double',
    profit_sol Nullable(Float64) COMMENT 'profit_lamports in SOL, as a double'
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
  x.wallet AS wallet_number,
  x.mint AS mint,
  x.kind AS kind,
  if(s.salt = '', x.block_time, toUInt32(x.block_time - earlier_seconds)) AS block_time,
  if(s.salt = '', x.lot_time, toUInt32(x.lot_time - lot_earlier_seconds)) AS lot_time,
  x.lot_origin AS lot_origin,
  multiIf(s.salt = '', x.amount, x.lot_origin = 'buy', coarsen(lot_perturb(x.amount), 2), coarsen(x.amount, 2)) AS amount,
  if(s.salt = '', x.cost_lamports, coarsen(lot_perturb(x.cost_lamports), 2)) AS cost_lamports,
  if(s.salt = '', x.proceeds_lamports, coarsen(perturb(x.proceeds_lamports), 2)) AS proceeds_lamports,
  if(s.salt = '', x.profit_lamports, toInt256(proceeds_lamports) - toInt256(cost_lamports)) AS profit_lamports,
  toDateTime(block_time, 'UTC') AS time,
  if(throwIf(k.key = '', 'there is no key of event ids yet: the next start of a worker makes it'), '', lower(hex(substring(HMAC('sha256', concat(reinterpretAsFixedString(x.slot), reinterpretAsFixedString(x.tx_index), reinterpretAsFixedString(x.wallet), reinterpretAsFixedString(x.event_index), s.salt), k.key), 1, 16)))) AS event_id,
  if(throwIf(k.key = '', 'there is no key of event ids yet: the next start of a worker makes it'), '', lower(hex(substring(HMAC('sha256', concat(reinterpretAsFixedString(x.lot_slot), reinterpretAsFixedString(x.lot_tx_index), reinterpretAsFixedString(x.wallet), reinterpretAsFixedString(x.lot_event_index), s.salt), k.key), 1, 16)))) AS lot_event_id,
  toDateTime(block_time, 'UTC') AS block_time_utc,
  toDateTime(lot_time, 'UTC') AS lot_time_utc,
  cost_lamports / 1e9 AS cost_sol,
  proceeds_lamports / 1e9 AS proceeds_sol,
  profit_lamports / 1e9 AS profit_sol
FROM disposals AS x FINAL
CROSS JOIN (SELECT min(key) AS key FROM event_id_key) AS k
CROSS JOIN (SELECT argMax(salt, version) AS salt FROM privacy_salt) AS s
COMMENT 'FIFO matches, one row a lot and event';

CREATE OR REPLACE VIEW {analyst}.positions
(
    wallet String COMMENT 'Alias of the wallet, for example W12',
    wallet_number UInt32 COMMENT 'The number in the alias: 12 of W12. A condition on it is faster than one on the alias',
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
    exit_seconds Nullable(Int64) COMMENT 'From first buy to the latest sell that brought sold to 90% of bought; null while not exited',
    bought_tokens Float64 COMMENT 'bought_amount in whole tokens, as a double',
    sold_tokens Float64 COMMENT 'sold_amount in whole tokens, as a double',
    bought_sol Float64 COMMENT 'bought_lamports in SOL, as a double',
    sold_sol Float64 COMMENT 'sold_lamports in SOL, as a double',
    first_buy_time_utc Nullable(DateTime('UTC')) COMMENT 'first_buy_time as a time',
    first_trade_time_utc Nullable(DateTime('UTC')) COMMENT 'first_trade_time as a time',
    last_trade_time_utc Nullable(DateTime('UTC')) COMMENT 'last_trade_time as a time',
    open_tokens Float64 COMMENT 'open_amount in whole tokens, as a double',
    open_cost_sol Float64 COMMENT 'open_cost_lamports in SOL, as a double',
    realized_sol Float64 COMMENT 'realized_lamports in SOL, as a double'
)
DEFINER = CURRENT_USER SQL SECURITY DEFINER
AS WITH
  ((amount, digits) -> toUInt256(rpad('1', 1 + greatest(length(toString(amount)), digits) - digits, '0'))) AS step_of,
  ((amount, digits) -> intDiv(toUInt256(amount) + intDiv(step_of(amount, digits), 2), step_of(amount, digits)) * step_of(amount, digits)) AS coarsen,
  (amount -> sign(amount) * toInt256(coarsen(abs(amount), 2))) AS coarsen_signed
SELECT concat('W', toString(x.wallet)) AS wallet,
  x.wallet AS wallet_number,
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
  if(s.salt = '', x.exit_seconds, coarsen_signed(x.exit_seconds)) AS exit_seconds,
  bought_amount / exp10(decimals) AS bought_tokens,
  sold_amount / exp10(decimals) AS sold_tokens,
  bought_lamports / 1e9 AS bought_sol,
  sold_lamports / 1e9 AS sold_sol,
  toDateTime(first_buy_time, 'UTC') AS first_buy_time_utc,
  toDateTime(first_trade_time, 'UTC') AS first_trade_time_utc,
  toDateTime(last_trade_time, 'UTC') AS last_trade_time_utc,
  open_amount / exp10(decimals) AS open_tokens,
  open_cost_lamports / 1e9 AS open_cost_sol,
  realized_lamports / 1e9 AS realized_sol
FROM positions AS x FINAL
CROSS JOIN (SELECT argMax(salt, version) AS salt FROM privacy_salt) AS s
COMMENT 'What each wallet did with each token, one row a wallet and mint';

CREATE OR REPLACE VIEW {analyst}.positions_at
DEFINER = CURRENT_USER SQL SECURITY DEFINER
AS WITH
  ((amount, digits) -> toUInt256(rpad('1', 1 + greatest(length(toString(amount)), digits) - digits, '0'))) AS step_of,
  ((amount, digits) -> intDiv(toUInt256(amount) + intDiv(step_of(amount, digits), 2), step_of(amount, digits)) * step_of(amount, digits)) AS coarsen,
  (amount -> sign(amount) * toInt256(coarsen(abs(amount), 2))) AS coarsen_signed
SELECT concat('W', toString(x.wallet)) AS wallet, x.wallet AS wallet_number, x.mint AS mint,
  toUInt128(if(any(x.is_salted), coarsen(toUInt256(greatest(sum(x.amount), 0)), 2), toUInt256(sum(x.amount)))) AS open_amount,
  toInt128(if(any(x.is_salted), coarsen_signed(greatest(sum(x.cost), 0)), sum(x.cost))) AS open_cost_lamports,
  toInt128(if(any(x.is_salted), coarsen_signed(sum(x.profit)), sum(x.profit))) AS realized_lamports, max(x.block_time) AS changed_at,
  open_cost_lamports / 1e9 AS open_cost_sol, realized_lamports / 1e9 AS realized_sol, toDateTime(changed_at, 'UTC') AS changed_at_utc
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
COMMENT 'Positions as they were at a time, one row a wallet and mint: positions_at(at = <unix seconds>) gives wallet (alias), mint, open_amount (raw units in open lots), open_cost_lamports, realized_lamports, changed_at (unix seconds), and wallet_number, open_cost_sol, realized_sol, changed_at_utc';

CREATE OR REPLACE VIEW {analyst}.first_buys
(
    wallet String COMMENT 'Alias of the wallet, for example W12',
    wallet_number UInt32 COMMENT 'The number in the alias: 12 of W12. A condition on it is faster than one on the alias',
    mint String COMMENT 'Mint of the token',
    block_time UInt32 COMMENT 'Unix seconds of the buy',
    amount UInt128 COMMENT 'Raw units bought',
    value_lamports Nullable(UInt128) COMMENT 'What was paid, in lamports; null when the buy has no value',
    sol_price_usd_e9 Nullable(UInt64) COMMENT 'USD x 10^9 for one SOL at the buy; null when none was known',
    supply Nullable(UInt64) COMMENT 'Raw units of the token in all; null until known',
    entry_mcap_usd_e6 Nullable(UInt128) COMMENT 'Market cap at the buy in USD x 10^6, rounded down: supply x value / amount in SOL, x the price of SOL; null until all are known',
    time DateTime('UTC') COMMENT 'block_time, for people',
    event_id String COMMENT 'Of the buy, as in view swaps',
    block_time_utc DateTime('UTC') COMMENT 'block_time as a time',
    value_sol Nullable(Float64) COMMENT 'value_lamports in SOL, as a double',
    sol_price_usd Nullable(Float64) COMMENT 'sol_price_usd_e9 in USD, as a double',
    entry_mcap_usd Nullable(Float64) COMMENT 'entry_mcap_usd_e6 in USD, as a double'
)
DEFINER = CURRENT_USER SQL SECURITY DEFINER
AS WITH
  if(s.salt = '', '', HMAC('sha256', concat(reinterpretAsFixedString(x.slot), reinterpretAsFixedString(x.tx_index), reinterpretAsFixedString(x.wallet), reinterpretAsFixedString(x.event_index)), s.salt)) AS noise,
  900000 + bitAnd(reinterpretAsUInt64(substring(noise, 1, 8)), 281474976710655) % 200001 AS factor_ppm,
  3 + bitAnd(reinterpretAsUInt64(substring(noise, 7, 8)), 281474976710655) % 14 AS earlier_seconds,
  (amount -> greatest(toUInt256(amount > 0), intDiv(toUInt256(amount) * factor_ppm, 1000000))) AS perturb
SELECT concat('W', toString(x.wallet)) AS wallet,
  x.wallet AS wallet_number,
  x.mint AS mint,
  if(s.salt = '', x.block_time, toUInt32(x.block_time - earlier_seconds)) AS block_time,
  if(s.salt = '', x.amount, perturb(x.amount)) AS amount,
  if(s.salt = '', x.value_lamports, perturb(x.value_lamports)) AS value_lamports,
  x.sol_price_usd_e9 AS sol_price_usd_e9,
  m.supply AS supply,
  accurateCastOrNull(intDiv(toUInt256(m.supply) * toUInt256(x.value_lamports) * toUInt256(x.sol_price_usd_e9), toUInt256(x.amount) * toUInt256('1000000000000')), 'UInt128') AS entry_mcap_usd_e6,
  toDateTime(block_time, 'UTC') AS time,
  if(throwIf(k.key = '', 'there is no key of event ids yet: the next start of a worker makes it'), '', lower(hex(substring(HMAC('sha256', concat(reinterpretAsFixedString(x.slot), reinterpretAsFixedString(x.tx_index), reinterpretAsFixedString(x.wallet), reinterpretAsFixedString(x.event_index), s.salt), k.key), 1, 16)))) AS event_id,
  toDateTime(block_time, 'UTC') AS block_time_utc,
  value_lamports / 1e9 AS value_sol,
  sol_price_usd_e9 / 1e9 AS sol_price_usd,
  entry_mcap_usd_e6 / 1e6 AS entry_mcap_usd
FROM first_buys AS x FINAL
CROSS JOIN (SELECT min(key) AS key FROM event_id_key) AS k
CROSS JOIN (SELECT argMax(salt, version) AS salt FROM privacy_salt) AS s
LEFT JOIN (SELECT mint, supply FROM mints FINAL) AS m ON m.mint = x.mint
COMMENT 'First buy of each token by each wallet, with the market cap at it';

CREATE OR REPLACE VIEW {analyst}.wallet_metrics
(
    wallet String COMMENT 'Alias of the wallet, for example W12',
    wallet_number UInt32 COMMENT 'The number in the alias: 12 of W12. A condition on it is faster than one on the alias',
    status Enum8('scored' = 1, 'review' = 2, 'disqualified' = 3) COMMENT 'Status by the rules of the contract',
    score_e2 Nullable(UInt16) COMMENT 'Score x 100, 0 to 10000, rounded half up; null when status is review',
    sol_balance_lamports Nullable(UInt64) COMMENT 'Balance after the newest transaction that names the wallet; null when none was seen',
    pnl_lamports Int128 COMMENT 'Realised FIFO profit over all tokens',
    bought_lamports Int128 COMMENT 'Sum of the values of buys',
    sold_lamports Int128 COMMENT 'Sum of the values of sells',
    invested_open_lamports Int128 COMMENT 'Cost of all unsold lots',
    unrealized_token_count UInt64 COMMENT 'Tokens whose lots hold more than zero',
    buys UInt64 COMMENT 'Buy swaps',
    sells UInt64 COMMENT 'Sell swaps',
    transfers_in UInt64 COMMENT 'Token transfers received',
    transfers_out UInt64 COMMENT 'Token transfers sent',
    received_lamports Int128 COMMENT 'SOL received by plain transfers',
    sent_lamports Int128 COMMENT 'SOL sent by plain transfers',
    unique_tokens_traded UInt64 COMMENT 'Base mints swapped',
    tokens_won UInt64 COMMENT 'Of tokens_sold_valued: those with realised profit above zero',
    tokens_lost UInt64 COMMENT 'Of tokens_sold_valued: those with realised profit below zero',
    tokens_sold_valued UInt64 COMMENT 'Tokens with a sell that has a value; divides the win and loss rates',
    holding_seconds_sum Int64 COMMENT 'Seconds from buy to sell, summed over matches of a sell with a bought lot',
    holding_matches UInt64 COMMENT 'Number of those matches',
    exit_seconds_sum Int64 COMMENT 'Seconds from first buy to almost full exit, summed over exited tokens',
    exit_tokens UInt64 COMMENT 'Number of those tokens',
    quick_sells UInt64 COMMENT 'Buys of which sells consumed at least half within 15 s',
    sold_more_than_bought UInt64 COMMENT 'Tokens of which swaps sold more than they bought',
    active_times Array(Tuple(hour_utc UInt8, tx_count UInt64)) COMMENT 'The (at most) three UTC hours with most transactions, most first, ties to the earlier',
    computed_at UInt32 COMMENT 'Unix seconds (wall clock) of the last computation; 0 when there was nothing to compute',
    score Nullable(Float64) COMMENT 'score_e2 / 100; null when status is review',
    sol_balance_sol Nullable(Float64) COMMENT 'sol_balance_lamports in SOL, as a double',
    pnl_sol Float64 COMMENT 'pnl_lamports in SOL, as a double',
    bought_sol Float64 COMMENT 'bought_lamports in SOL, as a double',
    sold_sol Float64 COMMENT 'sold_lamports in SOL, as a double',
    invested_open_sol Float64 COMMENT 'invested_open_lamports in SOL, as a double',
    received_sol Float64 COMMENT 'received_lamports in SOL, as a double',
    sent_sol Float64 COMMENT 'sent_lamports in SOL, as a double',
    computed_at_utc DateTime('UTC') COMMENT 'computed_at as a time'
)
DEFINER = CURRENT_USER SQL SECURITY DEFINER
AS SELECT concat('W', toString(x.wallet)) AS wallet,
  x.wallet AS wallet_number,
  x.status AS status,
  x.score_e2 AS score_e2,
  x.sol_balance_lamports AS sol_balance_lamports,
  x.pnl_lamports AS pnl_lamports,
  x.bought_lamports AS bought_lamports,
  x.sold_lamports AS sold_lamports,
  x.invested_open_lamports AS invested_open_lamports,
  x.unrealized_token_count AS unrealized_token_count,
  x.buys AS buys,
  x.sells AS sells,
  x.transfers_in AS transfers_in,
  x.transfers_out AS transfers_out,
  x.received_lamports AS received_lamports,
  x.sent_lamports AS sent_lamports,
  x.unique_tokens_traded AS unique_tokens_traded,
  x.tokens_won AS tokens_won,
  x.tokens_lost AS tokens_lost,
  x.tokens_sold_valued AS tokens_sold_valued,
  x.holding_seconds_sum AS holding_seconds_sum,
  x.holding_matches AS holding_matches,
  x.exit_seconds_sum AS exit_seconds_sum,
  x.exit_tokens AS exit_tokens,
  x.quick_sells AS quick_sells,
  x.sold_more_than_bought AS sold_more_than_bought,
  x.active_times AS active_times,
  x.computed_at AS computed_at,
  score_e2 / 100 AS score,
  sol_balance_lamports / 1e9 AS sol_balance_sol,
  pnl_lamports / 1e9 AS pnl_sol,
  bought_lamports / 1e9 AS bought_sol,
  sold_lamports / 1e9 AS sold_sol,
  invested_open_lamports / 1e9 AS invested_open_sol,
  received_lamports / 1e9 AS received_sol,
  sent_lamports / 1e9 AS sent_sol,
  toDateTime(computed_at, 'UTC') AS computed_at_utc
FROM wallet_metrics AS x FINAL
COMMENT 'Metrics of tracked wallets, one row a wallet';

CREATE OR REPLACE VIEW {analyst}.coverage
(
    wallet String COMMENT 'Alias of the wallet, for example W12',
    wallet_number UInt32 COMMENT 'The number in the alias: 12 of W12. A condition on it is faster than one on the alias',
    complete_since UInt32 COMMENT 'Unix seconds of the block from which on everything that the wallet did is stored, but for gaps that are being backfilled',
    time DateTime('UTC') COMMENT 'complete_since, for people',
    verified_through Nullable(UInt32) COMMENT 'Unix seconds of the block up to which the balances of the wallet prove that nothing is missing; null: not verified',
    open_breaks UInt32 COMMENT 'Places at which something is missing that is being fetched',
    unexplained_breaks UInt32 COMMENT 'Places at which something is missing that RPC does not have',
    complete_since_utc DateTime('UTC') COMMENT 'complete_since as a time',
    verified_through_utc Nullable(DateTime('UTC')) COMMENT 'verified_through as a time'
)
DEFINER = CURRENT_USER SQL SECURITY DEFINER
AS WITH
  intDiv(x.since_time + 3599, 3600) * 3600 AS next_hour,
  greatest(l.newest, v.block_time) AS newest,
  if(b.breaks > 0, least(newest, b.first_time), newest) AS verified
SELECT concat('W', toString(x.wallet)) AS wallet,
  x.wallet AS wallet_number,
  if(s.salt = '', x.since_time, toUInt32(next_hour)) AS complete_since,
  toDateTime(complete_since, 'UTC') AS time,
  if(n.slot = 0 OR verified = 0, NULL, if(s.salt = '', verified, toUInt32(intDiv(verified, 3600) * 3600))) AS verified_through,
  toUInt32(b.open) AS open_breaks,
  toUInt32(b.breaks - b.open) AS unexplained_breaks,
  toDateTime(complete_since, 'UTC') AS complete_since_utc,
  toDateTime(verified_through, 'UTC') AS verified_through_utc
FROM wallet_coverage AS x FINAL
LEFT JOIN (SELECT wallet, slot FROM balance_snapshots FINAL WHERE account = '') AS n ON n.wallet = x.wallet
LEFT JOIN (SELECT wallet, max(block_time) AS newest FROM sol_balances WHERE slot NOT IN (SELECT slot FROM withdrawn_slots) GROUP BY wallet) AS l ON l.wallet = x.wallet
LEFT JOIN (SELECT wallet, block_time FROM wallet_verifications FINAL) AS v ON v.wallet = x.wallet
LEFT JOIN
(
    SELECT wallet, count() AS breaks, countIf(state = 'open') AS open, min(from_time) AS first_time
    FROM chain_breaks FINAL WHERE state IN ('open', 'unexplained') GROUP BY wallet
) AS b ON b.wallet = x.wallet
CROSS JOIN (SELECT argMax(salt, version) AS salt FROM privacy_salt) AS s
COMMENT 'Since when the history of a wallet is complete, and through when it is verified; a wallet without a row is not covered yet';
