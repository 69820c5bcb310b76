-- One row is what one wallet did with one token: what it bought and sold by swaps alone, and the
--   FIFO result of swaps and transfers. A token that was only transferred has a row too, without
--   trades.
-- Written by: the fold worker, again whenever it changes.
-- Read by: holdings, `/tokens/held`, wallet aggregates, and analysts (view `positions`).
-- Duplicates: all rows of one (wallet, mint) are versions of one position, and the highest
--   `version` is the newest. Read with FINAL.
-- Units: raw token units, lamports, unix seconds of the block.
-- Projection `by_mint` has the same rows in the order of a mint. Index `news` finds recently
--   written rows without reading the others (infra/decisions/read-orders.md).
CREATE TABLE IF NOT EXISTS positions
(
    wallet UInt32 COMMENT 'Number n of the tracked wallet W<n>',
    mint String COMMENT 'Mint of the token' CODEC(ZSTD),
    decimals UInt8 COMMENT 'Decimals of the token',
    buys UInt64 COMMENT 'Buy swaps',
    sells UInt64 COMMENT 'Sell swaps',
    bought_amount UInt128 COMMENT 'Raw units bought by swaps',
    sold_amount UInt128 COMMENT 'Raw units sold by swaps; held = bought_amount - sold_amount, transfers left out',
    bought_lamports Int128 COMMENT 'Sum of the values of buys',
    sold_lamports Int128 COMMENT 'Sum of the values of sells',
    first_buy_time Nullable(UInt32) COMMENT 'Unix seconds of the first buy; null without one',
    first_trade_time Nullable(UInt32) COMMENT 'Unix seconds of the first swap; null without one',
    last_trade_time Nullable(UInt32) COMMENT 'Unix seconds of the newest swap; null without one',
    open_amount UInt128 COMMENT 'Raw units in open lots, transfers counted',
    open_cost_lamports Int128 COMMENT 'Cost of the open lots',
    realized_lamports Int128 COMMENT 'Realised FIFO profit',
    valued_sells UInt64 COMMENT 'Sells that have a value; the token counts for the win rate when above 0',
    served_bought_amount UInt128 DEFAULT bought_amount COMMENT 'bought_amount as published: of perturbed buys with PRIVACY_SALT, else the same',
    served_sold_amount UInt128 DEFAULT sold_amount COMMENT 'sold_amount as published',
    served_bought_lamports Int128 DEFAULT bought_lamports COMMENT 'bought_lamports as published',
    served_sold_lamports Int128 DEFAULT sold_lamports COMMENT 'sold_lamports as published',
    served_first_buy_time Nullable(UInt32) DEFAULT first_buy_time COMMENT 'first_buy_time as published',
    served_first_trade_time Nullable(UInt32) DEFAULT first_trade_time COMMENT 'first_trade_time as published',
    served_last_trade_time Nullable(UInt32) DEFAULT last_trade_time COMMENT 'last_trade_time as published',
    exit_seconds Nullable(Int64) COMMENT 'From first buy to the latest sell that brought sold to 90% of bought; null while not exited',
    version UInt64 COMMENT 'Refolds of the wallet x 2^32 + records folded when the row was made' CODEC(ZSTD),
    is_deleted UInt8 DEFAULT 0 COMMENT '1: a refold found that there is no such position',
    inserted_at DateTime64(3, 'UTC') DEFAULT now64(3) COMMENT 'When this row was written' CODEC(Delta, ZSTD),
    INDEX news inserted_at TYPE minmax GRANULARITY 1,
    PROJECTION by_mint (SELECT * ORDER BY mint, wallet) WITH SETTINGS (index_granularity = 256, min_bytes_for_wide_part = 1000000000000)
)
ENGINE = ReplacingMergeTree(version, is_deleted)
ORDER BY (wallet, mint)
SETTINGS non_replicated_deduplication_window = 1000, deduplicate_merge_projection_mode = 'rebuild'
COMMENT 'What each wallet did with each token, one row a wallet and mint';
