-- One row is the state of one wallet's fold after its event (slot, tx_index, event_index): a short cut at start, nothing more.
-- Written by: the fold worker, after every row derived from those events. Read by: the fold worker.
-- Duplicates: rows of one wallet are pictures of it; the highest `version` is the newest. Read with FINAL.
-- A `format` that the worker does not write says: what was derived may not be whole; fold from the stored events, with the next revision.
-- Deleting all rows (with the worker stopped) changes nothing but how long a start takes.
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
