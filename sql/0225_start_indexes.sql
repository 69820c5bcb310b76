-- compatible: adds indexes
-- With these indexes the start of a process reads what was written lately, however much is stored.
-- `unpriced` finds swaps without a SOL price, which are few. A condition uses it if it has the
--   expression of the index, compared with `> 0`.
-- `news` finds rows of rollups above a version, as in `wallet_token_hours`, and late swaps by when
--   they were written.
-- Statements with MATERIALIZE index what is stored already; they run in the background and rewrite
--   no row. `by_slot` is of 0177_slot_indexes.sql.
ALTER TABLE swaps
    ADD INDEX IF NOT EXISTS unpriced (sol_price_usd_e9 IS NULL AND quote_mint IS NOT NULL) TYPE minmax GRANULARITY 1;

ALTER TABLE swaps
    MATERIALIZE INDEX IF EXISTS unpriced;

ALTER TABLE sol_balances
    MATERIALIZE INDEX IF EXISTS by_slot;

ALTER TABLE token_links
    MATERIALIZE INDEX IF EXISTS by_slot;

ALTER TABLE late_swaps
    ADD INDEX IF NOT EXISTS news inserted_at TYPE minmax GRANULARITY 1;

ALTER TABLE late_swaps
    MATERIALIZE INDEX IF EXISTS news;

ALTER TABLE token_hours
    ADD INDEX IF NOT EXISTS news version TYPE minmax GRANULARITY 1;

ALTER TABLE token_hours
    MATERIALIZE INDEX IF EXISTS news;

ALTER TABLE wallet_days
    ADD INDEX IF NOT EXISTS news version TYPE minmax GRANULARITY 1;

ALTER TABLE wallet_days
    MATERIALIZE INDEX IF EXISTS news
