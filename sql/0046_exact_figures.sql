-- compatible: adds columns, and replaces a view of analysts
-- Adds exact figures to the watchlist and to signals (see 0040_watchlist.sql, 0044_signals.sql).
--   Replaces the analyst's view of the watchlist: a change of an unknown market cap is null.
-- `exact_mcap` and `exact_trigger_mcap` are market caps in USD as texts `numerator/denominator` in
--   lowest terms. The API divides them exactly, for the multiple of a signal. Rows of versions
--   before this file have '' and true: their doubles count.
ALTER TABLE watchlist
    ADD COLUMN IF NOT EXISTS exact_mcap String COMMENT 'current_mcap as an exact fraction; empty when it is not known' CODEC(ZSTD) AFTER current_mcap,
    ADD COLUMN IF NOT EXISTS is_mcap_change_known Bool DEFAULT true COMMENT 'False while mcap_change_pct is not known; it is then 0' CODEC(ZSTD) AFTER mcap_change_pct;

ALTER TABLE signals
    ADD COLUMN IF NOT EXISTS exact_trigger_mcap String COMMENT 'trigger_mcap as an exact fraction; empty when it was not known' CODEC(ZSTD) AFTER trigger_mcap;

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
    time DateTime('UTC') COMMENT 'at, for people'
)
DEFINER = CURRENT_USER SQL SECURITY DEFINER
AS SELECT x.at AS at, x.mint AS mint, x.entry AS entry, x.event AS event, x.symbol AS symbol, x.name AS name, x.first_trade_at AS first_trade_at,
  x.discovered_at AS discovered_at, x.oldest_hold_at AS oldest_hold_at, x.last_trade_at AS last_trade_at,
  arrayMap(wallet -> concat('W', toString(wallet)), x.wallets) AS wallets, x.conviction AS conviction, x.held_lamports AS held_lamports, x.pct_held AS pct_held,
  x.avg_entry_mcap AS avg_entry_mcap, x.current_mcap AS current_mcap, x.multiple AS multiple, x.band_min AS band_min, x.band_max AS band_max,
  x.buy_lamports AS buy_lamports, x.sell_lamports AS sell_lamports, if(x.is_mcap_change_known, x.mcap_change_pct, NULL) AS mcap_change_pct, x.holders_change_pct AS holders_change_pct,
  x.volume1h AS volume1h, x.volume1h_change_pct AS volume1h_change_pct, x.liquidity AS liquidity, x.liquidity_change_pct AS liquidity_change_pct,
  x.state AS state, x.near_evict AS near_evict, x.reasons AS reasons, x.time AS time
FROM watchlist AS x FINAL
COMMENT 'The trending watchlist, one row a token and change';
