-- The views that the ClickHouse user `analyst` reads: the newest version of each row, with wallets
--   by alias. They have no address, no signature and no slot, because a slot would identify the
--   transaction.
-- Rows, units and meaning are those of the table of the same name. The views read with the rights
--   of their owner.
-- {analyst} is the database `analyst`, or `analyst_<database>` if the service's own database is not
--   `tracked_wallets`.
CREATE DATABASE IF NOT EXISTS {analyst};

CREATE VIEW IF NOT EXISTS {analyst}.swaps
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
AS SELECT concat('W', toString(x.wallet)) AS wallet, x.block_time AS block_time, x.side AS side, x.base_mint AS base_mint, x.base_amount AS base_amount, x.base_decimals AS base_decimals, x.quote_mint AS quote_mint, x.quote_amount AS quote_amount, x.program AS program, x.confidence AS confidence, x.quote_mismatch AS quote_mismatch, x.fee_lamports AS fee_lamports, x.sol_price_usd_e9 AS sol_price_usd_e9, x.value_lamports AS value_lamports, x.time AS time
FROM swaps AS x FINAL
COMMENT 'Swaps of tracked wallets, one row an event key';

CREATE VIEW IF NOT EXISTS {analyst}.transfers
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
AS SELECT concat('W', toString(x.wallet)) AS wallet, x.block_time AS block_time, x.direction AS direction, x.mint AS mint, x.amount AS amount, x.decimals AS decimals, x.time AS time
FROM transfers AS x FINAL
COMMENT 'Token transfers of tracked wallets, one row an event key';

CREATE VIEW IF NOT EXISTS {analyst}.sol_transfers
(
    wallet String COMMENT 'Alias of the wallet, for example W12',
    block_time UInt32 COMMENT 'Unix seconds of the block',
    direction Enum8('in' = 1, 'out' = 2) COMMENT 'Seen from the wallet',
    lamports UInt64 COMMENT 'Lamports moved, above zero',
    time DateTime('UTC') COMMENT 'block_time, for people'
)
DEFINER = CURRENT_USER SQL SECURITY DEFINER
AS SELECT concat('W', toString(x.wallet)) AS wallet, x.block_time AS block_time, x.direction AS direction, x.lamports AS lamports, x.time AS time
FROM sol_transfers AS x FINAL
COMMENT 'SOL transfers of tracked wallets, one row an event key';

CREATE VIEW IF NOT EXISTS {analyst}.sol_balances
(
    wallet String COMMENT 'Alias of the wallet, for example W12',
    block_time UInt32 COMMENT 'Unix seconds of the block',
    lamports UInt64 COMMENT 'Balance after the transaction',
    time DateTime('UTC') COMMENT 'block_time, for people'
)
DEFINER = CURRENT_USER SQL SECURITY DEFINER
AS SELECT concat('W', toString(x.wallet)) AS wallet, x.block_time AS block_time, x.lamports AS lamports, x.time AS time
FROM sol_balances AS x FINAL
COMMENT 'SOL balances of tracked wallets after each transaction that names them';

CREATE VIEW IF NOT EXISTS {analyst}.lots
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
AS SELECT concat('W', toString(x.wallet)) AS wallet, x.mint AS mint, x.block_time AS block_time, x.origin AS origin, x.amount AS amount, x.cost_lamports AS cost_lamports, x.left_amount AS left_amount, x.left_cost_lamports AS left_cost_lamports, x.quick_sold_amount AS quick_sold_amount, x.time AS time
FROM lots AS x FINAL
COMMENT 'FIFO lots, one row a lot';

CREATE VIEW IF NOT EXISTS {analyst}.disposals
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
AS SELECT concat('W', toString(x.wallet)) AS wallet, x.mint AS mint, x.kind AS kind, x.block_time AS block_time, x.lot_time AS lot_time, x.lot_origin AS lot_origin, x.amount AS amount, x.cost_lamports AS cost_lamports, x.proceeds_lamports AS proceeds_lamports, x.profit_lamports AS profit_lamports, x.time AS time
FROM disposals AS x FINAL
COMMENT 'FIFO matches, one row a lot and event';

CREATE VIEW IF NOT EXISTS {analyst}.positions
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
AS SELECT concat('W', toString(x.wallet)) AS wallet, x.mint AS mint, x.decimals AS decimals, x.buys AS buys, x.sells AS sells, x.bought_amount AS bought_amount, x.sold_amount AS sold_amount, x.bought_lamports AS bought_lamports, x.sold_lamports AS sold_lamports, x.first_buy_time AS first_buy_time, x.first_trade_time AS first_trade_time, x.last_trade_time AS last_trade_time, x.open_amount AS open_amount, x.open_cost_lamports AS open_cost_lamports, x.realized_lamports AS realized_lamports, x.valued_sells AS valued_sells, x.exit_seconds AS exit_seconds
FROM positions AS x FINAL
COMMENT 'What each wallet did with each token, one row a wallet and mint';

CREATE VIEW IF NOT EXISTS {analyst}.wallet_metrics
(
    wallet String COMMENT 'Alias of the wallet, for example W12',
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
    computed_at UInt32 COMMENT 'Unix seconds (wall clock) of the last computation; 0 when there was nothing to compute'
)
DEFINER = CURRENT_USER SQL SECURITY DEFINER
AS SELECT concat('W', toString(x.wallet)) AS wallet, x.status AS status, x.score_e2 AS score_e2, x.sol_balance_lamports AS sol_balance_lamports, x.pnl_lamports AS pnl_lamports, x.bought_lamports AS bought_lamports, x.sold_lamports AS sold_lamports, x.invested_open_lamports AS invested_open_lamports, x.unrealized_token_count AS unrealized_token_count, x.buys AS buys, x.sells AS sells, x.transfers_in AS transfers_in, x.transfers_out AS transfers_out, x.received_lamports AS received_lamports, x.sent_lamports AS sent_lamports, x.unique_tokens_traded AS unique_tokens_traded, x.tokens_won AS tokens_won, x.tokens_lost AS tokens_lost, x.tokens_sold_valued AS tokens_sold_valued, x.holding_seconds_sum AS holding_seconds_sum, x.holding_matches AS holding_matches, x.exit_seconds_sum AS exit_seconds_sum, x.exit_tokens AS exit_tokens, x.quick_sells AS quick_sells, x.sold_more_than_bought AS sold_more_than_bought, x.active_times AS active_times, x.computed_at AS computed_at
FROM wallet_metrics AS x FINAL
COMMENT 'Metrics of tracked wallets, one row a wallet';

CREATE VIEW IF NOT EXISTS {analyst}.sol_prices
(
    time UInt32 COMMENT 'Unix seconds at which the price held',
    source Enum8('pool' = 1, 'file' = 2) COMMENT 'pool: the SOL/USDC pool account on the stream; file: loaded history',
    usd_e9 UInt64 COMMENT 'USD x 10^9 for one SOL'
)
DEFINER = CURRENT_USER SQL SECURITY DEFINER
AS SELECT x.time AS time, x.source AS source, x.usd_e9 AS usd_e9
FROM sol_prices AS x FINAL
COMMENT 'SOL/USD prices with their source';
