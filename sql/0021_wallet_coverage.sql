-- One row says since when everything that a tracked wallet did is stored, but for stretches that open rows of `backfills` (reasons gap, added) name.
-- Written by: ingest, when the first slot with the wallet in its subscription is stored; whoever finishes a backfill. Read by: them, `operator wallets`.
-- Duplicates: rows of one wallet are pictures of it; the highest `version` is the newest. Read with FINAL. A wallet without a row is not covered yet.
-- Units: slots, unix seconds of blocks.
-- A row is earlier than the one before it when a backfill that reaches it ended, later when RPC listed a transaction of a gap and did not give it.
CREATE TABLE IF NOT EXISTS wallet_coverage
(
    wallet UInt32 COMMENT 'Number n of the tracked wallet W<n>',
    since_slot UInt64 COMMENT 'Everything from this slot on is stored',
    since_time UInt32 COMMENT 'Block time of that slot, or later, unix seconds',
    version UInt64 COMMENT 'Milliseconds (wall clock) of this picture; the highest counts',
    inserted_at DateTime64(3, 'UTC') DEFAULT now64(3) COMMENT 'When this row was written'
)
ENGINE = ReplacingMergeTree(version)
ORDER BY wallet
SETTINGS non_replicated_deduplication_window = 1000
COMMENT 'Since when the history of a wallet is complete';
