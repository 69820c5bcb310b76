-- compatible: adds indexes
-- A withdrawal (rule K9) looks for the rows of a slot, which these tables do not have in their key.
--   The slots that are withdrawn are new, so parts merged before them are skipped by this index.
-- Parts that were written before this file have no index until they are merged.
ALTER TABLE sol_balances
    ADD INDEX IF NOT EXISTS by_slot slot TYPE minmax GRANULARITY 1;

ALTER TABLE token_links
    ADD INDEX IF NOT EXISTS by_slot slot TYPE minmax GRANULARITY 1;
