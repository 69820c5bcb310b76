-- The PRIVACY_SALT that stored figures and the analyst's views follow. No row, or an empty text:
--   none.
-- Written by: the fold worker at its start when its salt differs, after it has marked every wallet
--   to be folded anew. Read by: the fold worker; the analyst's views, with the rights of their
--   owner.
-- The salt undoes the perturbation, so analysts must not read this table.
-- Duplicates: the row with the highest `version` counts.
CREATE TABLE IF NOT EXISTS privacy_salt
(
    id UInt8 COMMENT 'Always 1',
    salt String COMMENT 'The salt; empty: what is served is what happened',
    version UInt64 COMMENT 'Milliseconds (wall clock) of this row; the highest counts'
)
ENGINE = ReplacingMergeTree(version)
ORDER BY id
COMMENT 'The salt by which the views of analysts serve, one row';
