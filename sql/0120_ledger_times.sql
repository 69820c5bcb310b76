-- Lets `GET /me/usage` read recent usage without older entries. Keys of usage follow time, so a
--   granule of a busy account holds some hours.
ALTER TABLE ledger_entries
    ADD INDEX IF NOT EXISTS by_time created_at TYPE minmax GRANULARITY 1
