-- Adds the value of a deposit, so that top-ups can be listed from the ledger alone.
ALTER TABLE ledger_entries
    ADD COLUMN IF NOT EXISTS deposit_amount UInt64 DEFAULT 0 COMMENT 'USDT of a deposit, in raw units (10^-6); 0 where it is none' AFTER reason
