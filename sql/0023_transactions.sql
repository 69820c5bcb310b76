-- One row is a transaction that gave an event of a tracked wallet or could not be decoded, with its
--   bytes, so that a corrected decoder can be applied to it.
-- Written by: the fold worker, after the events of the transaction.
-- Read by: `operator redecode`, and data engineers. Analysts have no view, because the bytes hold
--   addresses.
-- Duplicates: all rows of one (slot, tx_index) are equal. Read with FINAL or `LIMIT 1 BY slot,
--   tx_index`.
-- Units: unix seconds of the block.
-- Bytes of format `yellowstone` are a protobuf message SubscribeUpdateTransactionInfo (geyser.proto
--   of yellowstone-grpc, package geyser), as the stream sent it or converted from the RPC's JSON.
--   It has the signature, the index, the signed message and its outcome: balances, inner
--   instructions, logs and looked-up addresses. To write it to a file: `SELECT bytes FROM
--   transactions WHERE signature = '...' LIMIT 1 FORMAT RawBLOB`. As text: `base64Encode(bytes)`.
CREATE TABLE IF NOT EXISTS transactions
(
    slot UInt64 COMMENT 'Slot of the transaction' CODEC(Delta, ZSTD),
    tx_index UInt32 COMMENT 'Index of the transaction in its block' CODEC(ZSTD),
    block_time UInt32 COMMENT 'Unix seconds of the block' CODEC(Delta, ZSTD),
    signature String COMMENT 'Base58 signature of the transaction; never published' CODEC(ZSTD),
    format Enum8('too_large' = 0, 'yellowstone' = 1) COMMENT 'What the bytes are; too_large: above 512 KiB, so none are kept',
    base64 String EPHEMERAL COMMENT 'For inserts alone: the bytes in base64',
    bytes String DEFAULT base64Decode(base64) COMMENT 'The transaction; never published' CODEC(ZSTD(3)),
    decoder_version UInt16 DEFAULT 0 COMMENT 'Version of the decoder that read it when it was stored; 0: not known' CODEC(ZSTD),
    inserted_at DateTime64(3, 'UTC') DEFAULT now64(3) COMMENT 'When this row was written' CODEC(Delta, ZSTD),
    time DateTime('UTC') ALIAS toDateTime(block_time, 'UTC') COMMENT 'block_time, for people'
)
ENGINE = ReplacingMergeTree
ORDER BY (slot, tx_index)
SETTINGS non_replicated_deduplication_window = 1000
COMMENT 'Transactions of tracked wallets, with their bytes';
