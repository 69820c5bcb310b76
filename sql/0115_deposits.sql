-- One row per wallet, payment address and transaction: what the wallet paid to the address in the
--   transaction, summed over all instructions (rule E5). It is a fact of the chain. Whether and for
--   whom it was redeemed is in `ledger_entries` (credits), `subscriptions` (Pro) and
--   `deposit_assignments`.
-- Written by: each process that follows the stream, at commitment `confirmed`, and each that reads
--   finalized history over RPC, then with `finalized` = 1.
-- Read by: the checks (of a wallet's own deposits) and `operator deposits`.
-- Duplicates: all rows of one (wallet, purpose, signature) are one deposit; the finalized one wins
--   (FINAL). A deposit that stays unfinalized was dropped by a fork.
-- A transaction that touched a payment account and cannot be read, for example because its inner
--   instructions are missing, has a row with wallet '' and amount 0.
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
