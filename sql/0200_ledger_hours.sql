-- incompatible: an older API process writes usage of an hour a second time
-- Usage has one entry an account and hour of use, with the key `usage:<epoch>:<hours since 1970>`.
--   The entry grows while the hour lasts: each roll-up writes its row again, and the row of the
--   newest place in the stream counts (FINAL). `usage_ms` is then the version: milliseconds of the
--   place within the hour x 2^40 + its sequence. Entries that were written before, one for each
--   range of the stream with the key `usage:<epoch>:<from>`, stay and count as before.
ALTER TABLE ledger_entries
    COMMENT COLUMN usage_ms 'version of the row: of an epoch the place in the usage stream up to which it is rolled up, of usage see sql/0200; 0 of other entries';
