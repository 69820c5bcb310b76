-- One row is what RPC said of the mint of a traded token (rule J8): decimals and supply as first
--   fetched, which never change, and symbol and name.
-- Written by: the mint facts worker, for tokens that a tracked wallet has swapped. It does not ask
--   for tokens that were only transferred (rule K6).
-- Read by: everything that shows `symbol` and `name` or a market cap (supply), and analysts.
-- Duplicates: all rows of one mint are versions of its facts, and the highest `version` counts.
--   Read with FINAL. A token without a row has not been asked for yet: figures that depend on its
--   facts are null, and symbol and name are ''.
-- Units: raw token units, unix seconds (wall clock).
-- Strangers choose `symbol` and `name`. Both are cleaned (pipeline/ingest/rpc/mint-text.ts) and
--   have at most 16 and 64 characters. Whatever shows them must still escape them.
CREATE TABLE IF NOT EXISTS mints
(
    mint String COMMENT 'Mint of the token' CODEC(ZSTD),
    token_program Enum8('none' = 0, 'spl_token' = 1, 'token_2022' = 2) COMMENT 'Program of the mint; none when RPC has no such mint',
    decimals Nullable(UInt8) COMMENT 'Decimals of the token; null when RPC has no such mint',
    supply Nullable(UInt64) COMMENT 'Raw units in all, as first fetched; null when RPC has no such mint' CODEC(ZSTD),
    symbol String COMMENT 'What the token calls itself for short; empty when it does not say' CODEC(ZSTD),
    name String COMMENT 'What the token calls itself; empty when it does not say' CODEC(ZSTD),
    metadata Enum8('none' = 0, 'token_2022' = 1, 'metaplex' = 2) COMMENT 'Where symbol and name come from: the extension of a Token-2022 mint, the Metaplex account; none when neither is there',
    fetched_at Nullable(UInt32) COMMENT 'Unix seconds at which decimals and supply were fetched; null when RPC has no such mint',
    asked UInt16 COMMENT 'How often RPC was asked for it and answered',
    ask_again_at Nullable(UInt32) COMMENT 'Unix seconds from which it is asked for again, since something was missing; null when it never is',
    version UInt64 COMMENT 'asked x 2^48 + what is left of 2^48 after the milliseconds of the answer: the last answer counts, of two the first' CODEC(ZSTD),
    inserted_at DateTime64(3, 'UTC') DEFAULT now64(3) COMMENT 'When this row was written',
    INDEX news inserted_at TYPE minmax GRANULARITY 1
)
ENGINE = ReplacingMergeTree(version)
ORDER BY mint
SETTINGS non_replicated_deduplication_window = 1000
COMMENT 'Facts about traded tokens, one row a mint';
