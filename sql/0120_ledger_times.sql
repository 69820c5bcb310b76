-- What an account used lately is read without its older entries (`GET /me/usage`): keys of usage follow time, so a granule of a busy account holds some hours.
ALTER TABLE ledger_entries
    ADD INDEX IF NOT EXISTS by_time created_at TYPE minmax GRANULARITY 1
