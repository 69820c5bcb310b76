-- compatible: adds a projection
-- Prices of tokens (rule L5) are read by mint; the table is in the order of ticks. Projection
--   `by_mint` has the same rows in the order of a mint. `inserted_at` tells which of several rows
--   of one tick was written last.
-- The last statement sorts what is stored already; it runs in the background. Until it ends, reads
--   by mint are slower and as exact.
ALTER TABLE pool_states
    MODIFY SETTING deduplicate_merge_projection_mode = 'rebuild';

ALTER TABLE pool_states
    ADD PROJECTION IF NOT EXISTS by_mint
    (
        SELECT at, mint, pool, quote_mint, price_quote, price_base, inserted_at
        ORDER BY mint, at
    );

ALTER TABLE pool_states
    MATERIALIZE PROJECTION IF EXISTS by_mint
