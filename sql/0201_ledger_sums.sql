-- incompatible: an older API process stores entries that the running sums lack
-- Running sums: what an account has is read from a few rows, however long its ledger is. They are
--   rows of this table, so that an insert stores an entry and its sum together or not at all.
-- The wallet of a sum is `!` and the account; no address begins with it. Usage has one sum for each
--   epoch of the meter, with the key `usage:<epoch>`: all hours in `credits`, and in `hour_credits`
--   the hour of `created_at`. Each roll-up writes it again. `usage_ms` is the version: milliseconds
--   of the place in the stream x 2^22 + its sequence. Every other entry has a copy with its key.
-- The row with wallet '' and key `sums` says that the entries from before have theirs.
ALTER TABLE ledger_entries
    ADD COLUMN IF NOT EXISTS hour_credits Int64 DEFAULT 0 COMMENT 'of a running sum of usage: the part of its last hour; 0 of other rows' AFTER credits;
ALTER TABLE ledger_entries
    COMMENT COLUMN wallet 'account, see accounts; ! and an account: its running sums';
