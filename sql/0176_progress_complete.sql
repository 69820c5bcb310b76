-- incompatible: an older worker starts after slots that have become void
-- After a crash ingest withdraws the slots that it had not appended whole (rule K9), so what a
--   worker had stored of them is void, and its position goes back. `slot` cannot go back, because
--   it is the version of the row; `complete_slot` says up to where storage is complete.
-- Of several rows with one `slot` the one that was written last counts. Read with FINAL.
ALTER TABLE progress
    ADD COLUMN IF NOT EXISTS complete_slot UInt64 DEFAULT slot COMMENT 'Everything up to this slot is stored. Below slot from the start of ingest after a crash until it is there again' CODEC(ZSTD);
