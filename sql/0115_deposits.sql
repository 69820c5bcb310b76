-- One row what one wallet paid to one of the payment addresses in one transaction, over all of its
--   instructions (rule E5). A fact of the chain: whether and for whom it was redeemed is in
--   ledger_entries (credits), subscriptions (Pro) and deposit_assignments.
-- Written as transactions come over the stream, at `confirmed`, and once more, finalized, when the chain's finalized history was read over RPC; by every process that
-- does either. Read by the checks (a wallet's own) and by `operator deposits`.
-- Duplicates: rows of one (wallet, purpose, signature) are one deposit; the finalized one wins (FINAL). One that stays unfinalized was dropped by a fork.
-- A transaction that touched a payment account and cannot be read, for lack of its inner instructions too, has a row of wallet '' and amount 0.
CREATE TABLE IF NOT EXISTS deposits
(
    wallet     String COMMENT 'base58 owner of the token accounts that it came from; empty: the transaction cannot be read',
    purpose    Enum8('pro' = 1, 'credits' = 2) COMMENT 'which payment address got it',
    signature  String COMMENT 'base58 signature of the transaction',
    slot       UInt64 COMMENT 'slot of the transaction',
    tx_index   UInt32 COMMENT 'place of the transaction in its block; 0 where the server did not tell',
    block_time UInt32 COMMENT 'unix seconds of the block; 0 where nobody knows',
    amount     UInt64 COMMENT 'USDT that arrived, in raw units (10^-6)',
    finalized  UInt8 COMMENT '1: the transaction is finalized and can be redeemed',
    seen_at    DateTime64(3, 'UTC') COMMENT 'when this row was written',
    INDEX by_slot slot TYPE minmax GRANULARITY 1,
    INDEX by_signature signature TYPE bloom_filter GRANULARITY 1
)
ENGINE = ReplacingMergeTree(finalized)
ORDER BY (wallet, purpose, signature)
COMMENT 'payments in USDT to the service'
