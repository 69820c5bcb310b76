-- incompatible: older processes read balances and transactions of withdrawn slots
-- Rows of withdrawn slots can be deleted (rule K9).
-- `sol_balances`, `token_links`: the engine does not know `is_deleted`, so FINAL returns deleted
--   rows. Exclude them.
-- `transactions`: a row belongs to the wallet under which it is on the log, 0 in older rows. The
--   highest `version` counts; if it is deleted, there is no such transaction. FINAL returns the row
--   that was written last, which is that one.
-- `sol_prices`: a price of 0 says that the slot of the price was withdrawn. No column changes.
ALTER TABLE sol_balances ADD COLUMN IF NOT EXISTS is_deleted UInt8 DEFAULT 0 COMMENT '1: the slot was withdrawn' AFTER version;
ALTER TABLE token_links ADD COLUMN IF NOT EXISTS is_deleted UInt8 DEFAULT 0 COMMENT '1: the slot was withdrawn' AFTER version;
ALTER TABLE transactions ADD COLUMN IF NOT EXISTS wallet UInt32 DEFAULT 0 COMMENT 'Lowest tracked wallet with a record of it; 0: not known' CODEC(ZSTD) AFTER block_time;
ALTER TABLE transactions ADD COLUMN IF NOT EXISTS version UInt64 DEFAULT 0 COMMENT 'Rises when the slot is withdrawn, and when another transaction takes the place' CODEC(ZSTD) AFTER decoder_version;
ALTER TABLE transactions ADD COLUMN IF NOT EXISTS is_deleted UInt8 DEFAULT 0 COMMENT '1: the slot was withdrawn' AFTER version;
