-- The analyst's views of mints and of first buys: see 0014_analyst_views.sql.
CREATE VIEW IF NOT EXISTS {analyst}.mints
(
    mint String COMMENT 'Mint of the token',
    token_program Enum8('none' = 0, 'spl_token' = 1, 'token_2022' = 2) COMMENT 'Program of the mint; none when RPC has no such mint',
    decimals Nullable(UInt8) COMMENT 'Decimals of the token; null when RPC has no such mint',
    supply Nullable(UInt64) COMMENT 'Raw units in all, as first fetched; null when RPC has no such mint',
    symbol String COMMENT 'What the token calls itself for short, chosen by strangers; empty when it does not say',
    name String COMMENT 'What the token calls itself, chosen by strangers; empty when it does not say',
    metadata Enum8('none' = 0, 'token_2022' = 1, 'metaplex' = 2) COMMENT 'Where symbol and name come from; none when there is no metadata',
    fetched_at Nullable(UInt32) COMMENT 'Unix seconds at which decimals and supply were fetched'
)
DEFINER = CURRENT_USER SQL SECURITY DEFINER
AS SELECT x.mint AS mint, x.token_program AS token_program, x.decimals AS decimals, x.supply AS supply, x.symbol AS symbol, x.name AS name, x.metadata AS metadata, x.fetched_at AS fetched_at
FROM mints AS x FINAL
COMMENT 'Facts about traded tokens, one row a mint';

CREATE VIEW IF NOT EXISTS {analyst}.first_buys
(
    wallet String COMMENT 'Alias of the wallet, for example W12',
    mint String COMMENT 'Mint of the token',
    block_time UInt32 COMMENT 'Unix seconds of the buy',
    amount UInt128 COMMENT 'Raw units bought',
    value_lamports Nullable(UInt128) COMMENT 'What was paid, in lamports; null when the buy has no value',
    sol_price_usd_e9 Nullable(UInt64) COMMENT 'USD x 10^9 for one SOL at the buy; null when none was known',
    supply Nullable(UInt64) COMMENT 'Raw units of the token in all; null until known',
    entry_mcap_usd_e6 Nullable(UInt128) COMMENT 'Market cap at the buy in USD x 10^6, rounded down: supply x value / amount in SOL, x the price of SOL; null until all are known',
    time DateTime('UTC') COMMENT 'block_time, for people'
)
DEFINER = CURRENT_USER SQL SECURITY DEFINER
AS SELECT concat('W', toString(x.wallet)) AS wallet, x.mint AS mint, x.block_time AS block_time, x.amount AS amount, x.value_lamports AS value_lamports, x.sol_price_usd_e9 AS sol_price_usd_e9, m.supply AS supply,
  accurateCastOrNull(intDiv(toUInt256(m.supply) * toUInt256(x.value_lamports) * toUInt256(x.sol_price_usd_e9), toUInt256(x.amount) * toUInt256('1000000000000')), 'UInt128') AS entry_mcap_usd_e6,
  x.time AS time
FROM first_buys AS x FINAL
LEFT JOIN (SELECT mint, supply FROM mints FINAL) AS m ON m.mint = x.mint
COMMENT 'First buy of each token by each wallet, with the market cap at it';
