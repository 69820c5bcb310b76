-- One row per deposit that an operator gave to an account (`operator deposits assign`). It is
--   redeemed for that account and purpose, and not by a check of the wallet that paid. Append-only.
-- Written by: `operator deposits assign`, before the ledger entry or subscription that follows.
-- Read by: the checks and `operator deposits`.
-- Duplicates: all rows of one (wallet, purpose, signature) are one assignment and are equal
--   (FINAL). The command looks for an assignment before it writes one, one wallet at a time.
CREATE TABLE IF NOT EXISTS deposit_assignments
(
    wallet      String COMMENT 'wallet that paid, as in deposits',
    purpose     Enum8('pro' = 1, 'credits' = 2) COMMENT 'payment address that got it, as in deposits',
    signature   String COMMENT 'base58 signature of the transaction, as in deposits',
    account     String COMMENT 'account that it was given to, see accounts',
    redeemed_as Enum8('pro' = 1, 'credits' = 2) COMMENT 'what it was redeemed for',
    plan        LowCardinality(String) COMMENT 'plan that it buys; empty for credits',
    created_at  DateTime64(3, 'UTC') COMMENT 'when it was assigned'
)
ENGINE = ReplacingMergeTree
ORDER BY (wallet, purpose, signature)
COMMENT 'deposits given to an account by hand'
