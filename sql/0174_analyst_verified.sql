-- compatible: replaces a view of analysts
-- Replaces the analyst's view of coverage (0155_analyst_verified.sql): the newest link of a wallet
--   is none of a withdrawn slot (rule K9). Else it is as before.
CREATE OR REPLACE VIEW {analyst}.coverage
(
    wallet String COMMENT 'Alias of the wallet, for example W12',
    complete_since UInt32 COMMENT 'Unix seconds of the block from which on everything that the wallet did is stored, but for gaps that are being backfilled',
    time DateTime('UTC') COMMENT 'complete_since, for people',
    verified_through Nullable(UInt32) COMMENT 'Unix seconds of the block up to which the balances of the wallet prove that nothing is missing; null: not verified',
    open_breaks UInt32 COMMENT 'Places at which something is missing that is being fetched',
    unexplained_breaks UInt32 COMMENT 'Places at which something is missing that RPC does not have'
)
DEFINER = CURRENT_USER SQL SECURITY DEFINER
AS WITH
  intDiv(x.since_time + 3599, 3600) * 3600 AS next_hour,
  greatest(l.newest, v.block_time) AS newest,
  if(b.breaks > 0, least(newest, b.first_time), newest) AS verified
SELECT concat('W', toString(x.wallet)) AS wallet,
  if(s.salt = '', x.since_time, toUInt32(next_hour)) AS complete_since,
  toDateTime(complete_since, 'UTC') AS time,
  if(n.slot = 0 OR verified = 0, NULL, if(s.salt = '', verified, toUInt32(intDiv(verified, 3600) * 3600))) AS verified_through,
  toUInt32(b.open) AS open_breaks,
  toUInt32(b.breaks - b.open) AS unexplained_breaks
FROM wallet_coverage AS x FINAL
LEFT JOIN (SELECT wallet, slot FROM balance_snapshots FINAL WHERE account = '') AS n ON n.wallet = x.wallet
LEFT JOIN (SELECT wallet, max(block_time) AS newest FROM sol_balances WHERE slot NOT IN (SELECT slot FROM withdrawn_slots) GROUP BY wallet) AS l ON l.wallet = x.wallet
LEFT JOIN (SELECT wallet, block_time FROM wallet_verifications FINAL) AS v ON v.wallet = x.wallet
LEFT JOIN
(
    SELECT wallet, count() AS breaks, countIf(state = 'open') AS open, min(from_time) AS first_time
    FROM chain_breaks FINAL WHERE state IN ('open', 'unexplained') GROUP BY wallet
) AS b ON b.wallet = x.wallet
CROSS JOIN (SELECT argMax(salt, version) AS salt FROM privacy_salt) AS s
COMMENT 'Since when the history of a wallet is complete, and through when it is verified; a wallet without a row is not covered yet';
