-- One row is a backfill of one wallet: a stretch of its history that is fetched over RPC, and how
--   far the fetch is.
-- Written by: the process that fetches it, each time the records of a page are durable.
-- Read by: the same process, to continue after a crash; `operator wallets`.
-- Duplicates: all rows of one key are versions of one backfill, and the highest `version` is the
--   newest. Read with FINAL.
-- Units: slots, unix seconds. A backfill goes from the newest slot down: everything from
--   `position_slot` on is done.
-- The rules are in pipeline/workers/backfill/README.md.
CREATE TABLE IF NOT EXISTS backfills
(
    wallet UInt32 COMMENT 'Number n of the tracked wallet W<n>',
    reason Enum8('operator' = 1, 'gap' = 2, 'added' = 3) COMMENT 'operator: asked for; gap: ingest passed slots over; added: the wallet joined a running installation',
    from_slot UInt64 COMMENT 'Oldest slot wanted; 0: no bound',
    to_slot UInt64 COMMENT 'Newest slot wanted; 0: no bound',
    state Enum8('open' = 1, 'done' = 2) COMMENT 'open: not begun, or not at its end; done: all of it was fetched',
    newest_slot UInt64 COMMENT 'Newest slot of the chain when the work began; 0: not begun',
    position_slot UInt64 COMMENT 'Everything from this slot on is done; 0: nothing is',
    position_signature String COMMENT 'A transaction of that slot, from which RPC lists on; empty: none. Never published',
    transactions UInt64 COMMENT 'Transactions fetched',
    records UInt64 COMMENT 'Records that they gave the wallet',
    missing UInt64 COMMENT 'Transactions that RPC listed and did not give',
    missing_slot UInt64 COMMENT 'Slot of the newest of those that count against coverage; 0: none',
    missing_time UInt32 COMMENT 'Block time of that slot, unix seconds; 0: none, or not known',
    created_at UInt32 COMMENT 'Unix seconds (wall clock) at which it was asked for',
    version UInt64 COMMENT 'Milliseconds (wall clock) of this picture; the highest counts',
    inserted_at DateTime64(3, 'UTC') DEFAULT now64(3) COMMENT 'When this row was written'
)
ENGINE = ReplacingMergeTree(version)
ORDER BY (wallet, reason, from_slot, to_slot)
SETTINGS non_replicated_deduplication_window = 1000
COMMENT 'Backfills: stretches of a wallet''s history and how far each is';
