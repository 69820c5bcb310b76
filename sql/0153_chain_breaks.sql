-- compatible: adds a table
-- One row is a break: a link of an account that does not begin with what the previous one ended
--   with (rule K8). Something is missing between the two.
-- Written by: the check of the chains, which opens and closes breaks; the repair, which counts its
--   tries and says what could not be found.
-- Read by: both, `operator audit`, `operator wallets` and `/status`.
-- Duplicates: all rows of one key are versions of one break, and the highest `version` counts. Read
--   with FINAL.
-- Units: lamports, or raw token units; unix seconds.
-- The addresses of accounts are for the service alone and are never published.
CREATE TABLE IF NOT EXISTS chain_breaks
(
    wallet UInt32 COMMENT 'Number n of the tracked wallet W<n>',
    account String COMMENT 'Base58 address of the token account, empty for SOL; never published',
    slot UInt64 COMMENT 'Slot of the link that does not fit',
    tx_index UInt32 COMMENT 'Index of its transaction in the block',
    mint String COMMENT 'Base58 address of the mint; empty for SOL',
    from_slot UInt64 COMMENT 'Slot of the previous link, or of the snapshot',
    from_tx_index UInt32 COMMENT 'Index of its transaction; 4294967295: a snapshot after the slot',
    from_time UInt32 COMMENT 'Unix seconds of the block of the previous link; 0: a snapshot',
    block_time UInt32 COMMENT 'Unix seconds of the block of the link that does not fit; 0: a snapshot',
    expected UInt64 COMMENT 'What the previous link ended with',
    found UInt64 COMMENT 'What the link begins with',
    state Enum8('open' = 1, 'unexplained' = 2, 'accepted' = 3, 'closed' = 4) COMMENT 'open: being repaired; unexplained: RPC has nothing; accepted: of a known cause; closed: what was missing was found',
    cause String COMMENT 'Of an accepted or unexplained break: why; else empty',
    tries UInt8 COMMENT 'How often RPC was asked without closing it',
    opened_at UInt32 COMMENT 'Unix seconds (wall clock) at which it was opened',
    changed_at UInt32 COMMENT 'Unix seconds (wall clock) of this state',
    version UInt64 COMMENT 'Milliseconds (wall clock) of this state; the highest counts',
    inserted_at DateTime64(3, 'UTC') DEFAULT now64(3) COMMENT 'When this row was written'
)
ENGINE = ReplacingMergeTree(version)
ORDER BY (wallet, account, slot, tx_index)
SETTINGS non_replicated_deduplication_window = 1000
COMMENT 'Breaks in the chains of links of tracked wallets';
