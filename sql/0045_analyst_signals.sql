-- The analyst's view of signals: see 0014_analyst_views.sql.
CREATE VIEW IF NOT EXISTS {analyst}.signals
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
    time DateTime('UTC') COMMENT 'fired_at, for people'
)
DEFINER = CURRENT_USER SQL SECURITY DEFINER
AS SELECT x.fired_at AS fired_at, x.strategy AS strategy, x.mint AS mint, x.entry AS entry, x.symbol AS symbol, x.name AS name, x.conviction AS conviction, x.wallets_holding AS wallets_holding,
  arrayMap(w -> concat('W', toString(w)), x.wallets) AS wallets, x.trigger_mcap AS trigger_mcap, x.held_lamports AS held_lamports, x.buy_lamports AS buy_lamports, x.sell_lamports AS sell_lamports, x.reasons AS reasons, x.time AS time
FROM signals AS x FINAL
COMMENT 'Filter strategies that fired, one row a strategy and stay of a token on the watchlist';
