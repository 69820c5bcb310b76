-- compatible: adds a column that is null where it is not known
-- What a withdrawn swap was worth when it was stored, so that its retraction shows what was sent.
ALTER TABLE withdrawn_swaps ADD COLUMN IF NOT EXISTS value_lamports Nullable(UInt128) COMMENT 'What the quote was worth in lamports; null when it had no value, or that is not known' AFTER quote_mismatch;
