-- compatible: adds a projection
-- `GET /search` finds tokens by the beginning of their symbol. Projection `by_symbol` has the mints
--   in the order of their symbols, with ASCII letters in lower case. Several rows of one mint may
--   have different symbols: who reads it compares with the newest row.
-- The last statement sorts what is stored already; it runs in the background. Until it ends,
--   searches are slower and as exact.
ALTER TABLE mints
    MODIFY SETTING deduplicate_merge_projection_mode = 'rebuild';

ALTER TABLE mints
    ADD PROJECTION IF NOT EXISTS by_symbol
    (
        SELECT mint, symbol
        ORDER BY lower(symbol), mint
    );

ALTER TABLE mints
    MATERIALIZE PROJECTION IF EXISTS by_symbol
