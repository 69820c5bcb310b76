-- The analyst's view of how complete a wallet's history is: see 0014_analyst_views.sql and
--   0021_wallet_coverage.sql.
CREATE VIEW IF NOT EXISTS {analyst}.coverage
(
    wallet String COMMENT 'Alias of the wallet, for example W12',
    complete_since UInt32 COMMENT 'Unix seconds of the block from which on everything that the wallet did is stored, but for gaps that are being backfilled',
    time DateTime('UTC') COMMENT 'complete_since, for people'
)
DEFINER = CURRENT_USER SQL SECURITY DEFINER
AS SELECT concat('W', toString(x.wallet)) AS wallet, x.since_time AS complete_since, toDateTime(x.since_time, 'UTC') AS time
FROM wallet_coverage AS x FINAL
COMMENT 'Since when the history of a wallet is complete; a wallet without a row is not covered yet'
