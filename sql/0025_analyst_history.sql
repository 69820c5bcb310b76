-- The analyst's views of the past, and of how far storage is: see 0014_analyst_views.sql.
-- `positions_at` takes a parameter: SELECT ... FROM {analyst}.positions_at(at = 1790000000). One
--   row is a wallet and mint that had a lot by then. It follows from lots and disposals, which have
--   the time of their events and the amounts moved. So the answer for a past time stays the same,
--   except for late events.
-- ClickHouse keeps no comments of columns for such a view, so they are here and in its comment:
--   wallet String is the alias; mint String; open_amount UInt128 is raw units in open lots;
--   open_cost_lamports Int128 is their cost; realized_lamports Int128 is the FIFO profit realised
--   by then; changed_at UInt32 is unix seconds of the newest event that made or used up a lot.
-- `storage` has one row, and none before the first slot is stored completely.
CREATE VIEW IF NOT EXISTS {analyst}.positions_at
DEFINER = CURRENT_USER SQL SECURITY DEFINER
AS SELECT concat('W', toString(x.wallet)) AS wallet, x.mint AS mint, toUInt128(sum(x.amount)) AS open_amount, toInt128(sum(x.cost)) AS open_cost_lamports,
  toInt128(sum(x.profit)) AS realized_lamports, max(x.block_time) AS changed_at
FROM
(
    SELECT wallet, mint, block_time, toInt256(amount) AS amount, toInt256(cost_lamports) AS cost, toInt256(0) AS profit
    FROM lots FINAL WHERE block_time <= {at:UInt32}
    UNION ALL
    SELECT wallet, mint, block_time, -toInt256(amount), -toInt256(cost_lamports), toInt256(ifNull(profit_lamports, 0))
    FROM disposals FINAL WHERE block_time <= {at:UInt32}
) AS x
GROUP BY x.wallet, x.mint
COMMENT 'Positions as they were at a time, one row a wallet and mint: positions_at(at = <unix seconds>) gives wallet (alias), mint, open_amount (raw units in open lots), open_cost_lamports, realized_lamports, changed_at (unix seconds)';

CREATE VIEW IF NOT EXISTS {analyst}.storage
(
    block_time UInt32 COMMENT 'Unix seconds of the newest block that is wholly stored',
    written_at DateTime64(3, 'UTC') COMMENT 'When the newest block was stored (wall clock)',
    time DateTime('UTC') COMMENT 'block_time, for people'
)
DEFINER = CURRENT_USER SQL SECURITY DEFINER
AS SELECT argMin(x.block_time, x.slot) AS block_time, max(x.inserted_at) AS written_at, toDateTime(argMin(x.block_time, x.slot), 'UTC') AS time
FROM progress AS x FINAL
WHERE x.worker = 'fold'
HAVING count() > 0 AND count() >= max(x.partitions)
COMMENT 'How far storage is, one row'
