-- One row is the PRIVACY_SALT with which derived figures were computed and which the analyst's
--   views use. No row, or an empty text, means that there is none. The salt undoes the
--   perturbation, so analysts must not read this table.
-- Written by: the fold worker at its start, if its salt differs, after it has marked every wallet
--   for a refold.
-- Read by: the fold worker; the analyst's views, with the rights of their owner.
-- Duplicates: the highest `version` counts.
CREATE TABLE IF NOT EXISTS privacy_salt
(
    id UInt8 COMMENT 'Always 1',
    salt String COMMENT 'The salt; empty: what is served is what happened',
    version UInt64 COMMENT 'Milliseconds (wall clock) of this row; the highest counts'
)
ENGINE = ReplacingMergeTree(version)
ORDER BY id
COMMENT 'The salt by which the views of analysts serve, one row';
