-- incompatible: an older worker writes disposals that rollups do not notice
-- Rollups of wallets (0223_wallet_days.sql) find disposals by when they were written, and by slot.
-- Rows from before this file have no time of writing: the first rollup reads them all. An insert
--   that names `stamped` gets one. A default without it would be computed at each read where a part
--   lacks the column, and give old rows the time of the read.
-- A tombstone of an earlier version of the service has block_time 0. Its slot is right.
-- The last statement sorts what is stored already; it runs in the background. Until it ends, reads
--   by slot are slower and as exact.
ALTER TABLE disposals
    ADD COLUMN IF NOT EXISTS stamped UInt8 EPHEMERAL 0 COMMENT '1: the row gets the time of its writing. Not stored',
    ADD COLUMN IF NOT EXISTS inserted_at DateTime64(3, 'UTC') DEFAULT if(stamped, now64(3), toDateTime64(0, 3, 'UTC')) COMMENT 'When this row was written; 0: not known' CODEC(Delta, ZSTD);

ALTER TABLE disposals
    ADD INDEX IF NOT EXISTS news inserted_at TYPE minmax GRANULARITY 1;

ALTER TABLE disposals
    MODIFY SETTING deduplicate_merge_projection_mode = 'rebuild';

ALTER TABLE disposals
    ADD PROJECTION IF NOT EXISTS by_slot
    (
        SELECT wallet, mint, slot, tx_index, event_index, lot_slot, lot_tx_index, lot_event_index, kind, block_time, profit_lamports, version, is_deleted
        ORDER BY slot
    );

ALTER TABLE disposals
    MATERIALIZE INDEX IF EXISTS news,
    MATERIALIZE PROJECTION IF EXISTS by_slot
