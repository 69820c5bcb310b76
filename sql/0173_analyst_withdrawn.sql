-- compatible: replaces views of analysts
-- Views `sol_balances` and `sol_prices` leave out what was withdrawn (rule K9), and are else as
-- before.
CREATE OR REPLACE VIEW {analyst}.sol_balances
(
    wallet String COMMENT 'Alias of the wallet, for example W12',
    block_time UInt32 COMMENT 'Unix seconds of the block',
    lamports UInt64 COMMENT 'Balance after the transaction',
    time DateTime('UTC') COMMENT 'block_time, for people'
)
DEFINER = CURRENT_USER SQL SECURITY DEFINER
AS WITH
  if(s.salt = '', '', HMAC('sha256', concat(reinterpretAsFixedString(x.slot), reinterpretAsFixedString(x.tx_index), reinterpretAsFixedString(x.wallet), reinterpretAsFixedString(toUInt32(0))), s.salt)) AS noise,
  3 + bitAnd(reinterpretAsUInt64(substring(noise, 7, 8)), 281474976710655) % 14 AS earlier_seconds,
  ((amount, digits) -> toUInt256(rpad('1', 1 + greatest(length(toString(amount)), digits) - digits, '0'))) AS step_of,
  ((amount, digits) -> intDiv(toUInt256(amount) + intDiv(step_of(amount, digits), 2), step_of(amount, digits)) * step_of(amount, digits)) AS coarsen
SELECT concat('W', toString(x.wallet)) AS wallet,
  if(s.salt = '', x.block_time, toUInt32(x.block_time - earlier_seconds)) AS block_time,
  if(s.salt = '', x.lamports, coarsen(x.lamports, 2)) AS lamports,
  toDateTime(block_time, 'UTC') AS time
FROM sol_balances AS x FINAL
CROSS JOIN (SELECT argMax(salt, version) AS salt FROM privacy_salt) AS s
WHERE x.is_deleted = 0 AND (s.salt = '' OR (x.wallet, x.slot, x.tx_index) IN
(
    SELECT wallet, (max((slot, tx_index)) AS newest).1, newest.2
    FROM sol_balances FINAL
    WHERE is_deleted = 0 AND (SELECT argMax(salt, version) != '' FROM privacy_salt)
    GROUP BY wallet
))
COMMENT 'SOL balances of tracked wallets after each transaction that names them; with PRIVACY_SALT the newest of each wallet';

CREATE OR REPLACE VIEW {analyst}.sol_prices
(
    time UInt32 COMMENT 'Unix seconds at which the price held',
    source Enum8('pool' = 1, 'file' = 2) COMMENT 'pool: the SOL/USDC pool account on the stream; file: loaded history',
    usd_e9 UInt64 COMMENT 'USD x 10^9 for one SOL'
)
DEFINER = CURRENT_USER SQL SECURITY DEFINER
AS SELECT x.time AS time, x.source AS source, x.usd_e9 AS usd_e9
FROM sol_prices AS x FINAL
WHERE x.usd_e9 > 0
COMMENT 'SOL/USD prices with their source';
