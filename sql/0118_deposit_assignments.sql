-- One row a deposit that an operator gave to an account (`operator deposits assign`): it is redeemed for that account and purpose, not by a check of the wallet that paid.
-- Append-only. Written before the ledger entry or subscription that follows; read by the checks and by `operator deposits`.
-- Duplicates: rows of one (wallet, purpose, signature) are one assignment, and all say the same: it is looked for before it is written, one wallet at a time (FINAL).
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
