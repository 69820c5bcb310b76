-- One row is the metrics of one wallet, as exact sums and counts. Averages, percentages and SOL
--   figures are computed from them when they are shown.
-- Written by: the fold worker, again whenever they change. A wallet without events has a row of
--   defaults from the moment it is tracked.
-- Read by: `/wallets`, `/wallets/{alias}/metrics`, and analysts (view `wallet_metrics`).
-- Duplicates: all rows of one wallet are versions of its metrics, and the highest `version` is the
--   newest. Read with FINAL.
-- Units: lamports, seconds, score x 100.
CREATE TABLE IF NOT EXISTS wallet_metrics
(
    wallet UInt32 COMMENT 'Number n of the tracked wallet W<n>',
    status Enum8('scored' = 1, 'review' = 2, 'disqualified' = 3) DEFAULT 'review' COMMENT 'Status by the rules of the contract',
    score_e2 Nullable(UInt16) COMMENT 'Score x 100, 0 to 10000, rounded half up; null when status is review',
    sol_balance_lamports Nullable(UInt64) COMMENT 'Balance after the newest transaction that names the wallet; null when none was seen',
    pnl_lamports Int128 COMMENT 'Realised FIFO profit over all tokens',
    bought_lamports Int128 COMMENT 'Sum of the values of buys',
    sold_lamports Int128 COMMENT 'Sum of the values of sells',
    invested_open_lamports Int128 COMMENT 'Cost of all unsold lots',
    unrealized_token_count UInt64 COMMENT 'Tokens whose lots hold more than zero',
    buys UInt64 COMMENT 'Buy swaps',
    sells UInt64 COMMENT 'Sell swaps',
    transfers_in UInt64 COMMENT 'Token transfers received',
    transfers_out UInt64 COMMENT 'Token transfers sent',
    received_lamports Int128 COMMENT 'SOL received by plain transfers',
    sent_lamports Int128 COMMENT 'SOL sent by plain transfers',
    unique_tokens_traded UInt64 COMMENT 'Base mints swapped',
    tokens_won UInt64 COMMENT 'Of tokens_sold_valued: those with realised profit above zero',
    tokens_lost UInt64 COMMENT 'Of tokens_sold_valued: those with realised profit below zero',
    tokens_sold_valued UInt64 COMMENT 'Tokens with a sell that has a value; divides the win and loss rates',
    holding_seconds_sum Int64 COMMENT 'Seconds from buy to sell, summed over matches of a sell with a bought lot',
    holding_matches UInt64 COMMENT 'Number of those matches',
    exit_seconds_sum Int64 COMMENT 'Seconds from first buy to almost full exit, summed over exited tokens',
    exit_tokens UInt64 COMMENT 'Number of those tokens',
    quick_sells UInt64 COMMENT 'Buys of which sells consumed at least half within 15 s',
    sold_more_than_bought UInt64 COMMENT 'Tokens of which swaps sold more than they bought',
    active_times Array(Tuple(hour_utc UInt8, tx_count UInt64)) COMMENT 'The (at most) three UTC hours with most transactions, most first, ties to the earlier',
    events UInt64 COMMENT 'Events folded: swaps, token transfers and SOL transfers',
    slot UInt64 COMMENT 'Slot of the newest event folded; 0 without one',
    tx_index UInt32 COMMENT 'Its transaction index',
    event_index UInt32 COMMENT 'Its event index',
    computed_at UInt32 DEFAULT 0 COMMENT 'Unix seconds (wall clock) of the last computation; 0 when there was nothing to compute',
    version UInt64 DEFAULT 0 COMMENT 'Refolds of the wallet x 2^32 + records folded when the row was made'
)
ENGINE = ReplacingMergeTree(version)
ORDER BY wallet
SETTINGS non_replicated_deduplication_window = 1000
COMMENT 'Metrics of tracked wallets, one row a wallet';
