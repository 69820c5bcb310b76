-- compatible: adds a column, null where it is not known
-- Table `sol_balances` (0004_sol_balances.sql) has the balance before the transaction too, so that
--   the rows of a wallet form a chain (rule K8).
-- Null in rows that were stored before this column.
ALTER TABLE sol_balances ADD COLUMN IF NOT EXISTS lamports_before Nullable(UInt64) COMMENT 'Balance before the transaction; null: stored before this column' CODEC(ZSTD) AFTER lamports;
