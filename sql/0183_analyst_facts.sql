-- compatible: replaces views of analysts
-- Adds times, SOL and USD to the other views of analysts, as 0181_analyst_events.sql does to those
--   of events. All other columns are as before.
CREATE OR REPLACE VIEW {analyst}.mints
(
    mint String COMMENT 'Mint of the token',
    token_program Enum8('none' = 0, 'spl_token' = 1, 'token_2022' = 2) COMMENT 'Program of the mint; none when RPC has no such mint',
    decimals Nullable(UInt8) COMMENT 'Decimals of the token; null when RPC has no such mint',
    supply Nullable(UInt64) COMMENT 'Raw units in all, as first fetched; null when RPC has no such mint',
    symbol String COMMENT 'What the token calls itself for short, chosen by strangers; empty when it does not say',
    name String COMMENT 'What the token calls itself, chosen by strangers; empty when it does not say',
    metadata Enum8('none' = 0, 'token_2022' = 1, 'metaplex' = 2) COMMENT 'Where symbol and name come from; none when there is no metadata',
    fetched_at Nullable(UInt32) COMMENT 'Unix seconds at which decimals and supply were fetched',
    fetched_at_utc Nullable(DateTime('UTC')) COMMENT 'fetched_at as a time'
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
  if(s.salt = '', x.fetched_at, toUInt32(hour)) AS fetched_at,
  toDateTime(fetched_at, 'UTC') AS fetched_at_utc
FROM mints AS x FINAL
CROSS JOIN (SELECT argMax(salt, version) AS salt FROM privacy_salt) AS s
COMMENT 'Facts about traded tokens, one row a mint';

CREATE OR REPLACE VIEW {analyst}.sol_prices
(
    time UInt32 COMMENT 'Unix seconds at which the price held',
    source Enum8('pool' = 1, 'file' = 2) COMMENT 'pool: the SOL/USDC pool account on the stream; file: loaded history',
    usd_e9 UInt64 COMMENT 'USD x 10^9 for one SOL',
    time_utc DateTime('UTC') COMMENT 'time as a time',
    usd Float64 COMMENT 'usd_e9 in USD, as a double'
)
DEFINER = CURRENT_USER SQL SECURITY DEFINER
AS SELECT x.time AS time,
  x.source AS source,
  x.usd_e9 AS usd_e9,
  toDateTime(time, 'UTC') AS time_utc,
  usd_e9 / 1e9 AS usd
FROM sol_prices AS x FINAL
WHERE x.usd_e9 > 0
COMMENT 'SOL/USD prices with their source';

CREATE OR REPLACE VIEW {analyst}.storage
(
    block_time UInt32 COMMENT 'Unix seconds of the newest block that is wholly stored',
    written_at DateTime64(3, 'UTC') COMMENT 'When the newest block was stored (wall clock)',
    time DateTime('UTC') COMMENT 'block_time, for people',
    block_time_utc DateTime('UTC') COMMENT 'block_time as a time'
)
DEFINER = CURRENT_USER SQL SECURITY DEFINER
AS SELECT argMin(x.block_time, x.slot) AS block_time,
  max(x.inserted_at) AS written_at,
  toDateTime(argMin(x.block_time, x.slot), 'UTC') AS time,
  toDateTime(block_time, 'UTC') AS block_time_utc
FROM progress AS x FINAL
WHERE x.worker = 'fold'
HAVING count() > 0 AND count() >= max(x.partitions)
COMMENT 'How far storage is, one row';

CREATE OR REPLACE VIEW {analyst}.watchlist
(
    at UInt32 COMMENT 'Unix seconds from which on it was so, divisible by 10',
    mint String COMMENT 'Mint of the token',
    entry UInt32 COMMENT 'When it came to the list; (mint, entry) names one listing',
    event Enum8('entered' = 1, 'changed' = 2, 'left' = 3) COMMENT 'Whether it came, changed, or left; figures of one that left are those as it did',
    symbol String COMMENT 'What the token calls itself for short, chosen by strangers; empty until known',
    name String COMMENT 'What the token calls itself, chosen by strangers; empty until known',
    first_trade_at UInt32 COMMENT 'First swap of a tracked wallet',
    discovered_at UInt32 COMMENT 'When a second wallet bought for the first time',
    oldest_hold_at Nullable(UInt32) COMMENT 'First trade of the holder who traded first; null when nobody holds',
    last_trade_at UInt32 COMMENT 'Newest swap',
    wallets Array(String) COMMENT 'Aliases of the wallets that hold by their swaps',
    conviction Float64 COMMENT '0 to 100',
    held_lamports UInt128 COMMENT 'Cost of the open lots of those wallets',
    pct_held Float64 COMMENT 'Held / bought of those wallets, 0 to 1',
    avg_entry_mcap Nullable(Float64) COMMENT 'Mean of their known entry market caps, weighted by SOL spent; USD',
    current_mcap Nullable(Float64) COMMENT 'Market cap; USD, null while it is not known',
    multiple Nullable(Float64) COMMENT 'current_mcap / avg_entry_mcap',
    band_min Nullable(Float64) COMMENT 'Lowest known entry market cap of those wallets',
    band_max Nullable(Float64) COMMENT 'Highest known entry market cap of those wallets',
    buy_lamports UInt128 COMMENT 'Values of buys in the last hour',
    sell_lamports UInt128 COMMENT 'Values of sells in the last hour',
    mcap_change_pct Nullable(Float64) COMMENT 'Change of current_mcap in the last hour, percent; null while it is not known',
    holders_change_pct Float64 COMMENT 'Change of the number of wallets in the last hour, percent',
    volume1h Float64 COMMENT 'SOL bought and sold in the last hour',
    volume1h_change_pct Float64 COMMENT 'Change against the hour before it, percent',
    liquidity Nullable(Float64) COMMENT 'SOL in the pool of the last swap, doubled; null while it is not known',
    liquidity_change_pct Float64 COMMENT 'Change in the last hour, percent',
    state Enum8('discovered' = 1, 'accumulating' = 2, 'distributing' = 3, 'holding' = 4) COMMENT 'Where it stands',
    near_evict Bool COMMENT 'One wallet holds, or nine tenths of 24 hours are over since the last trade',
    reasons Array(String) COMMENT 'What led to each transition; empty when figures alone changed',
    time DateTime('UTC') COMMENT 'at, for people',
    at_utc DateTime('UTC') COMMENT 'at as a time',
    entry_utc DateTime('UTC') COMMENT 'entry as a time',
    first_trade_at_utc DateTime('UTC') COMMENT 'first_trade_at as a time',
    discovered_at_utc DateTime('UTC') COMMENT 'discovered_at as a time',
    oldest_hold_at_utc Nullable(DateTime('UTC')) COMMENT 'oldest_hold_at as a time',
    last_trade_at_utc DateTime('UTC') COMMENT 'last_trade_at as a time',
    held_sol Float64 COMMENT 'held_lamports in SOL, as a double',
    buy_sol Float64 COMMENT 'buy_lamports in SOL, as a double',
    sell_sol Float64 COMMENT 'sell_lamports in SOL, as a double'
)
DEFINER = CURRENT_USER SQL SECURITY DEFINER
AS SELECT x.at AS at,
  x.mint AS mint,
  x.entry AS entry,
  x.event AS event,
  x.symbol AS symbol,
  x.name AS name,
  x.first_trade_at AS first_trade_at,
  x.discovered_at AS discovered_at,
  x.oldest_hold_at AS oldest_hold_at,
  x.last_trade_at AS last_trade_at,
  arrayMap(wallet -> concat('W', toString(wallet)), x.wallets) AS wallets,
  x.conviction AS conviction,
  x.held_lamports AS held_lamports,
  x.pct_held AS pct_held,
  x.avg_entry_mcap AS avg_entry_mcap,
  x.current_mcap AS current_mcap,
  x.multiple AS multiple,
  x.band_min AS band_min,
  x.band_max AS band_max,
  x.buy_lamports AS buy_lamports,
  x.sell_lamports AS sell_lamports,
  if(x.is_mcap_change_known, x.mcap_change_pct, NULL) AS mcap_change_pct,
  x.holders_change_pct AS holders_change_pct,
  x.volume1h AS volume1h,
  x.volume1h_change_pct AS volume1h_change_pct,
  x.liquidity AS liquidity,
  x.liquidity_change_pct AS liquidity_change_pct,
  x.state AS state,
  x.near_evict AS near_evict,
  x.reasons AS reasons,
  x.time AS time,
  toDateTime(at, 'UTC') AS at_utc,
  toDateTime(entry, 'UTC') AS entry_utc,
  toDateTime(first_trade_at, 'UTC') AS first_trade_at_utc,
  toDateTime(discovered_at, 'UTC') AS discovered_at_utc,
  toDateTime(oldest_hold_at, 'UTC') AS oldest_hold_at_utc,
  toDateTime(last_trade_at, 'UTC') AS last_trade_at_utc,
  held_lamports / 1e9 AS held_sol,
  buy_lamports / 1e9 AS buy_sol,
  sell_lamports / 1e9 AS sell_sol
FROM watchlist AS x FINAL
COMMENT 'The trending watchlist, one row a token and change';

CREATE OR REPLACE VIEW {analyst}.signals
(
    fired_at UInt32 COMMENT 'Tick at which all conditions first held, unix seconds of block time',
    strategy LowCardinality(String) COMMENT 'Name of the strategy',
    mint String COMMENT 'Mint of the token',
    entry UInt32 COMMENT 'Unix seconds at which the token entered the watchlist',
    symbol String COMMENT 'What the token called itself for short at that time; empty when it was not known',
    name String COMMENT 'What the token called itself at that time; empty when it was not known',
    conviction Float64 COMMENT 'Conviction, 0 to 100',
    wallets_holding UInt32 COMMENT 'Tracked wallets that held the token',
    wallets Array(String) COMMENT 'Their aliases, by number',
    trigger_mcap Nullable(Float64) COMMENT 'Market cap in USD; null when it was not known',
    held_lamports UInt128 COMMENT 'Cost of what they held',
    buy_lamports UInt128 COMMENT 'Bought by tracked wallets in the hour before',
    sell_lamports UInt128 COMMENT 'Sold by tracked wallets in the hour before',
    reasons Array(Tuple(field String, op String, threshold String, value String)) COMMENT 'Conditions that held, in their order; threshold and value as JSON',
    time DateTime('UTC') COMMENT 'fired_at, for people',
    fired_at_utc DateTime('UTC') COMMENT 'fired_at as a time',
    entry_utc DateTime('UTC') COMMENT 'entry as a time',
    held_sol Float64 COMMENT 'held_lamports in SOL, as a double',
    buy_sol Float64 COMMENT 'buy_lamports in SOL, as a double',
    sell_sol Float64 COMMENT 'sell_lamports in SOL, as a double'
)
DEFINER = CURRENT_USER SQL SECURITY DEFINER
AS SELECT x.fired_at AS fired_at,
  x.strategy AS strategy,
  x.mint AS mint,
  x.entry AS entry,
  x.symbol AS symbol,
  x.name AS name,
  x.conviction AS conviction,
  x.wallets_holding AS wallets_holding,
  arrayMap(w -> concat('W', toString(w)), x.wallets) AS wallets,
  x.trigger_mcap AS trigger_mcap,
  x.held_lamports AS held_lamports,
  x.buy_lamports AS buy_lamports,
  x.sell_lamports AS sell_lamports,
  x.reasons AS reasons,
  x.time AS time,
  toDateTime(fired_at, 'UTC') AS fired_at_utc,
  toDateTime(entry, 'UTC') AS entry_utc,
  held_lamports / 1e9 AS held_sol,
  buy_lamports / 1e9 AS buy_sol,
  sell_lamports / 1e9 AS sell_sol
FROM signals AS x FINAL
COMMENT 'Filter strategies that fired, one row a strategy and stay of a token on the watchlist';
