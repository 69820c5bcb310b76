-- compatible: adds a table
-- One row is a key with which the analyst's views make `event_id` from an event key. The key undoes
--   that, because the events of a block can be tried one by one, so analysts must not read this
--   table.
-- Written by: the fold worker at its start, once, if there is no row.
-- Read by: the fold worker; the analyst's views, with the rights of their owner.
-- Duplicates: workers that start together may write several keys. The lowest counts.
CREATE TABLE IF NOT EXISTS event_id_key
(
    key String COMMENT '32 random bytes, hexadecimal'
)
ENGINE = ReplacingMergeTree
ORDER BY key
COMMENT 'The key of event ids of analysts'
