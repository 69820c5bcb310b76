-- compatible: adds views of analysts
-- `wallet_days` and `token_hours` read the tables that the roller keeps (rule I4), and `rollups`
--   says how far these are. With PRIVACY_SALT they are computed from what views of events and
--   disposals show, at each query, so they tell nothing more than these; swaps of one second are
--   then in the order of `event_id`. Of the two branches of each view one is empty
--   (0181_analyst_events.sql).
CREATE OR REPLACE VIEW {analyst}.wallet_days
(
    wallet String COMMENT 'Alias of the wallet, for example W12',
    wallet_number UInt32 COMMENT 'The number in the alias: 12 of W12',
    day Date COMMENT 'Day of the blocks, UTC',
    trades UInt64 COMMENT 'Swaps: buys and sells',
    buys UInt64 COMMENT 'Buy swaps',
    sells UInt64 COMMENT 'Sell swaps',
    unvalued UInt64 COMMENT 'Of trades: swaps without a value, which volume and profit leave out',
    volume_lamports UInt128 COMMENT 'Sum of the values of swaps',
    realized_lamports Int128 COMMENT 'Realised FIFO profit of the sells of the day',
    wins UInt64 COMMENT 'Sells with a realised profit above zero, over all lots that they took from',
    losses UInt64 COMMENT 'Sells with one below zero',
    volume_sol Float64 COMMENT 'volume_lamports in SOL, as a double',
    realized_sol Float64 COMMENT 'realized_lamports in SOL, as a double'
)
DEFINER = CURRENT_USER SQL SECURITY DEFINER
AS SELECT concat('W', toString(r.wallet_number)) AS wallet,
  r.wallet_number AS wallet_number,
  r.day AS day,
  r.buys + r.sells AS trades,
  r.buys AS buys,
  r.sells AS sells,
  r.unvalued AS unvalued,
  r.volume_lamports AS volume_lamports,
  r.realized_lamports AS realized_lamports,
  r.wins AS wins,
  r.losses AS losses,
  volume_lamports / 1e9 AS volume_sol,
  realized_lamports / 1e9 AS realized_sol
FROM
(
    SELECT x.wallet AS wallet_number, x.day AS day, x.buys AS buys, x.sells AS sells, x.unvalued AS unvalued,
      x.volume_lamports AS volume_lamports, x.realized_lamports AS realized_lamports, x.wins AS wins, x.losses AS losses
    FROM wallet_days AS x FINAL
    WHERE (SELECT argMax(salt, version) = '' FROM privacy_salt)
    UNION ALL
    SELECT x.wallet_number AS wallet_number, x.day AS day, sum(x.buys) AS buys, sum(x.sells) AS sells, sum(x.unvalued) AS unvalued,
      sum(x.volume) AS volume_lamports, sum(x.realized) AS realized_lamports, sum(x.wins) AS wins, sum(x.losses) AS losses
    FROM
    (
        SELECT s.wallet_number AS wallet_number, toDate(s.block_time_utc) AS day,
          countIf(s.side = 'buy') AS buys, countIf(s.side = 'sell') AS sells, countIf(s.value_lamports IS NULL) AS unvalued,
          sum(ifNull(s.value_lamports, 0)) AS volume, toInt128(0) AS realized, toUInt64(0) AS wins, toUInt64(0) AS losses
        FROM {analyst}.swaps AS s
        WHERE (SELECT argMax(salt, version) != '' FROM privacy_salt)
        GROUP BY s.wallet_number, day
        UNION ALL
        SELECT e.wallet_number, e.day, 0, 0, 0, 0, sum(e.profit), countIf(e.profit > 0), countIf(e.profit < 0)
        FROM
        (
            SELECT d.wallet_number AS wallet_number, toDate(d.block_time_utc) AS day, sum(assumeNotNull(d.profit_lamports)) AS profit
            FROM {analyst}.disposals AS d
            WHERE (SELECT argMax(salt, version) != '' FROM privacy_salt) AND d.kind = 'sell' AND d.profit_lamports IS NOT NULL
            GROUP BY d.wallet_number, day, d.event_id
        ) AS e
        GROUP BY e.wallet_number, e.day
    ) AS x
    GROUP BY x.wallet_number, x.day
) AS r
COMMENT 'Profit and trades of wallets, one row a wallet and day';

CREATE OR REPLACE VIEW {analyst}.token_hours
(
    mint String COMMENT 'Mint of the token',
    hour UInt32 COMMENT 'Unix seconds at which the hour begins (UTC)',
    hour_utc DateTime('UTC') COMMENT 'hour as a time',
    open_price_sol Nullable(Float64) COMMENT 'SOL for one whole token at the first swap that has a value, as a double; null without one',
    high_price_sol Nullable(Float64) COMMENT 'Highest price of such a swap',
    low_price_sol Nullable(Float64) COMMENT 'Lowest price',
    close_price_sol Nullable(Float64) COMMENT 'Price at the last one',
    trades UInt64 COMMENT 'Swaps: buys and sells',
    buys UInt64 COMMENT 'Buy swaps',
    sells UInt64 COMMENT 'Sell swaps',
    traders UInt64 COMMENT 'Wallets that swapped it in the hour',
    volume_lamports UInt128 COMMENT 'Sum of the values of swaps',
    holders UInt64 COMMENT 'Wallets that had bought more than sold by swaps at the end of the hour',
    volume_sol Float64 COMMENT 'volume_lamports in SOL, as a double'
)
DEFINER = CURRENT_USER SQL SECURITY DEFINER
AS SELECT r.mint AS mint,
  r.hour AS hour,
  toDateTime(r.hour, 'UTC') AS hour_utc,
  r.open_price AS open_price_sol,
  r.high_price AS high_price_sol,
  r.low_price AS low_price_sol,
  r.close_price AS close_price_sol,
  r.buys + r.sells AS trades,
  r.buys AS buys,
  r.sells AS sells,
  r.traders AS traders,
  r.volume_lamports AS volume_lamports,
  r.holders AS holders,
  volume_lamports / 1e9 AS volume_sol
FROM
(
    SELECT x.mint AS mint, x.hour AS hour, x.open_price AS open_price, x.high_price AS high_price, x.low_price AS low_price, x.close_price AS close_price,
      x.buys AS buys, x.sells AS sells, x.traders AS traders, x.volume_lamports AS volume_lamports, x.holders AS holders
    FROM token_hours AS x FINAL
    WHERE (SELECT argMax(salt, version) = '' FROM privacy_salt)
    UNION ALL
    SELECT t.mint AS mint, t.hour AS hour, t.open_price, t.high_price, t.low_price, t.close_price, t.buys, t.sells, t.traders, t.volume,
      toUInt64(sum(t.joined) OVER (PARTITION BY t.mint ORDER BY t.hour)) AS holders
    FROM
    (
        SELECT h.mint AS mint, h.hour AS hour,
          if(sum(h.priced) = 0, NULL, argMinIf(h.open_price, h.open_place, h.priced > 0)) AS open_price,
          if(sum(h.priced) = 0, NULL, maxIf(h.high_price, h.priced > 0)) AS high_price,
          if(sum(h.priced) = 0, NULL, minIf(h.low_price, h.priced > 0)) AS low_price,
          if(sum(h.priced) = 0, NULL, argMaxIf(h.close_price, h.close_place, h.priced > 0)) AS close_price,
          sum(h.buys) AS buys, sum(h.sells) AS sells, count() AS traders, sum(h.volume) AS volume,
          sum(toInt64(h.held > 0) - toInt64(h.held - h.change > 0)) AS joined
        FROM
        (
            SELECT w.*, sum(w.change) OVER (PARTITION BY w.mint, w.wallet_number ORDER BY w.hour) AS held
            FROM
            (
                WITH assumeNotNull(s.value_sol) / s.base_tokens AS price
                SELECT s.base_mint AS mint, s.wallet_number AS wallet_number, toUInt32(toStartOfHour(s.block_time_utc)) AS hour,
                  countIf(s.side = 'buy') AS buys, countIf(s.side = 'sell') AS sells, sum(ifNull(s.value_lamports, 0)) AS volume,
                  sum(if(s.side = 'buy', toInt256(s.base_amount), -toInt256(s.base_amount))) AS change,
                  countIf(s.value_lamports IS NOT NULL) AS priced,
                  minIf((s.block_time, s.event_id), s.value_lamports IS NOT NULL) AS open_place,
                  argMinIf(price, (s.block_time, s.event_id), s.value_lamports IS NOT NULL) AS open_price,
                  maxIf((s.block_time, s.event_id), s.value_lamports IS NOT NULL) AS close_place,
                  argMaxIf(price, (s.block_time, s.event_id), s.value_lamports IS NOT NULL) AS close_price,
                  maxIf(price, s.value_lamports IS NOT NULL) AS high_price,
                  minIf(price, s.value_lamports IS NOT NULL) AS low_price
                FROM {analyst}.swaps AS s
                WHERE (SELECT argMax(salt, version) != '' FROM privacy_salt)
                GROUP BY s.base_mint, s.wallet_number, hour
            ) AS w
        ) AS h
        GROUP BY h.mint, h.hour
    ) AS t
) AS r
COMMENT 'Prices, volume and holders of tokens, one row a token and hour';

CREATE OR REPLACE VIEW {analyst}.rollups
(
    complete_until UInt32 COMMENT 'Unix seconds of the newest block that is wholly in wallet_days and token_hours',
    complete_until_utc DateTime('UTC') COMMENT 'complete_until as a time',
    computed_at DateTime64(3, 'UTC') COMMENT 'When the newest pass over changed events ended (wall clock)'
)
DEFINER = CURRENT_USER SQL SECURITY DEFINER
AS SELECT x.block_time AS complete_until,
  toDateTime(x.block_time, 'UTC') AS complete_until_utc,
  x.inserted_at AS computed_at
FROM progress AS x FINAL
WHERE x.worker = 'rollups' AND (SELECT argMax(salt, version) = '' FROM privacy_salt)
UNION ALL
SELECT s.block_time, s.block_time_utc, s.written_at
FROM {analyst}.storage AS s
WHERE (SELECT argMax(salt, version) != '' FROM privacy_salt)
COMMENT 'How far wallet_days and token_hours are, one row'
