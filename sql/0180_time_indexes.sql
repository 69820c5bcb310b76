-- compatible: adds indexes
-- `times` answers a condition on a time, `news` one on when a row was written: the views of
--   analysts would otherwise read the whole table. Both are small. The second statement of each
--   table indexes what is stored already; it runs in the background and rewrites no row.
ALTER TABLE swaps
    ADD INDEX IF NOT EXISTS times block_time TYPE minmax GRANULARITY 1,
    ADD INDEX IF NOT EXISTS news inserted_at TYPE minmax GRANULARITY 1;

ALTER TABLE swaps
    MATERIALIZE INDEX IF EXISTS times,
    MATERIALIZE INDEX IF EXISTS news;

ALTER TABLE transfers
    ADD INDEX IF NOT EXISTS times block_time TYPE minmax GRANULARITY 1,
    ADD INDEX IF NOT EXISTS news inserted_at TYPE minmax GRANULARITY 1;

ALTER TABLE transfers
    MATERIALIZE INDEX IF EXISTS times,
    MATERIALIZE INDEX IF EXISTS news;

ALTER TABLE sol_transfers
    ADD INDEX IF NOT EXISTS times block_time TYPE minmax GRANULARITY 1,
    ADD INDEX IF NOT EXISTS news inserted_at TYPE minmax GRANULARITY 1;

ALTER TABLE sol_transfers
    MATERIALIZE INDEX IF EXISTS times,
    MATERIALIZE INDEX IF EXISTS news;

ALTER TABLE sol_balances
    ADD INDEX IF NOT EXISTS times block_time TYPE minmax GRANULARITY 1;

ALTER TABLE sol_balances
    MATERIALIZE INDEX IF EXISTS times
