-- One row is the state of one wallet's fold after its event (slot, tx_index, event_index). It only
--   shortens a start: if all rows are deleted while the worker is stopped, the next start takes
--   longer and nothing else changes.
-- Written by: the fold worker, after every row derived from those events.
-- Read by: the fold worker.
-- Duplicates: all rows of one wallet are versions of its state, and the highest `version` is the
--   newest. Read with FINAL.
-- A `format` that the worker does not write means that derived rows may be incomplete. The worker
--   then folds the stored events again, with the next revision.
CREATE TABLE IF NOT EXISTS fold_snapshots
(
    wallet UInt32 COMMENT 'Number n of the tracked wallet W<n>',
    revision UInt32 COMMENT 'How often the wallet was folded from its beginning again',
    slot UInt64 COMMENT 'Slot of the newest event in the state; 0 for an empty one',
    format UInt32 COMMENT 'Format of the state, with PRIVACY_SALT also a mark of it; 0: there is none, the derived rows are being made anew',
    state String COMMENT 'The state as JSON; empty when there is none' CODEC(ZSTD(3)),
    version UInt64 COMMENT 'revision x 2^32 + records folded',
    inserted_at DateTime64(3, 'UTC') DEFAULT now64(3) COMMENT 'When this row was written'
)
ENGINE = ReplacingMergeTree(version)
ORDER BY wallet
SETTINGS non_replicated_deduplication_window = 1000
COMMENT 'Snapshots of the fold, one row a wallet';
