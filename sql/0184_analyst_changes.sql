-- compatible: adds views of analysts
-- One row is a stored version of an event: what an incremental load reads (docs/tables.md). Each
--   event has at least its newest version, and older ones until parts are merged. A version whose
--   `is_deleted` is 1 says that there is no such event any more.
-- Columns are those of the view of the events (0181_analyst_events.sql), and three more.
-- With PRIVACY_SALT `updated_at` is a full hour, because the moment at which an event is stored
--   tells its time.
CREATE OR REPLACE VIEW {analyst}.swap_changes
(
    wallet String COMMENT 'Alias of the wallet, for example W12',
    wallet_number UInt32 COMMENT 'The number in the alias: 12 of W12. A condition on it is faster than one on the alias',
    block_time UInt32 COMMENT 'Unix seconds of the block',
    side Enum8('buy' = 1, 'sell' = 2) COMMENT 'What the wallet did with the base',
    base_mint String COMMENT 'Mint of the traded token',
    base_amount UInt128 COMMENT 'Raw base units moved, above zero',
    base_decimals UInt8 COMMENT 'Decimals of the base',
    quote_mint LowCardinality(Nullable(String)) COMMENT 'WSOL, USDC or USDT; null when no quote coin opposed the base',
    quote_amount UInt128 COMMENT 'Raw quote units; 0 without a quote',
    program LowCardinality(String) COMMENT 'Venue or router, or unknown',
    confidence Enum8('high' = 1, 'delta_only' = 2) COMMENT 'high: read from an instruction; delta_only: from balance changes alone',
    quote_mismatch Bool COMMENT 'No clean opposing quote leg was found; such a swap has no value',
    fee_lamports UInt64 COMMENT 'Lamports a terminal or bot took beside the swap, not part of its value',
    sol_price_usd_e9 Nullable(UInt64) COMMENT 'USD x 10^9 for one SOL at the swap; null without a quote coin, or while none is known',
    value_lamports Nullable(UInt128) COMMENT 'What the quote is worth in lamports, rounded down; null when it has no value',
    event_id String COMMENT 'Names the event in every view: 32 hexadecimal digits, opaque; all change with PRIVACY_SALT',
    revision UInt64 COMMENT 'Of the rows of one event_id the highest counts, and of equal ones the newest',
    updated_at DateTime64(3, 'UTC') COMMENT 'When this version was stored; with PRIVACY_SALT the full hour before',
    is_deleted UInt8 COMMENT '1: there is no such event any more',
    time DateTime('UTC') COMMENT 'block_time as a time',
    block_time_utc DateTime('UTC') COMMENT 'block_time as a time',
    base_tokens Float64 COMMENT 'base_amount in whole tokens, as a double',
    quote_tokens Nullable(Float64) COMMENT 'quote_amount in whole WSOL, USDC or USDT, as a double; null without a quote',
    fee_sol Float64 COMMENT 'fee_lamports in SOL, as a double',
    sol_price_usd Nullable(Float64) COMMENT 'sol_price_usd_e9 in USD, as a double',
    value_sol Nullable(Float64) COMMENT 'value_lamports in SOL, as a double'
)
DEFINER = CURRENT_USER SQL SECURITY DEFINER
AS SELECT *,
  toDateTime(block_time, 'UTC') AS time,
  toDateTime(block_time, 'UTC') AS block_time_utc,
  base_amount / exp10(base_decimals) AS base_tokens,
  quote_amount / if(quote_mint = 'So11111111111111111111111111111111111111112', 1e9, if(quote_mint IS NULL, NULL, 1e6)) AS quote_tokens,
  fee_lamports / 1e9 AS fee_sol,
  sol_price_usd_e9 / 1e9 AS sol_price_usd,
  value_lamports / 1e9 AS value_sol
FROM
(
    SELECT concat('W', toString(x.wallet)) AS wallet,
      x.wallet AS wallet_number,
      x.block_time AS block_time,
      x.side AS side,
      x.base_mint AS base_mint,
      x.base_amount AS base_amount,
      x.base_decimals AS base_decimals,
      x.quote_mint AS quote_mint,
      x.quote_amount AS quote_amount,
      x.program AS program,
      x.confidence AS confidence,
      x.quote_mismatch AS quote_mismatch,
      x.fee_lamports AS fee_lamports,
      x.sol_price_usd_e9 AS sol_price_usd_e9,
      x.value_lamports AS value_lamports,
      if(throwIf(k.key = '', 'there is no key of event ids yet: the next start of a worker makes it'), '', lower(hex(substring(HMAC('sha256', concat(reinterpretAsFixedString(x.slot), reinterpretAsFixedString(x.tx_index), reinterpretAsFixedString(x.wallet), reinterpretAsFixedString(x.event_index)), k.key), 1, 16)))) AS event_id,
      x.version AS revision,
      x.inserted_at AS updated_at,
      x.is_deleted AS is_deleted
    FROM swaps AS x
    CROSS JOIN (SELECT min(key) AS key FROM event_id_key) AS k
    WHERE (SELECT argMax(salt, version) = '' FROM privacy_salt)
    UNION ALL
    WITH
      HMAC('sha256', concat(reinterpretAsFixedString(x.slot), reinterpretAsFixedString(x.tx_index), reinterpretAsFixedString(x.wallet), reinterpretAsFixedString(x.event_index)), s.salt) AS noise,
      900000 + bitAnd(reinterpretAsUInt64(substring(noise, 1, 8)), 281474976710655) % 200001 AS factor_ppm,
      3 + bitAnd(reinterpretAsUInt64(substring(noise, 7, 8)), 281474976710655) % 14 AS earlier_seconds,
      (amount -> greatest(toUInt256(amount > 0), intDiv(toUInt256(amount) * factor_ppm, 1000000))) AS perturb,
      ((amount, digits) -> toUInt256(rpad('1', 1 + greatest(length(toString(amount)), digits) - digits, '0'))) AS step_of,
      ((amount, digits) -> intDiv(toUInt256(amount) + intDiv(step_of(amount, digits), 2), step_of(amount, digits)) * step_of(amount, digits)) AS coarsen
    SELECT concat('W', toString(x.wallet)) AS wallet,
      x.wallet AS wallet_number,
      toUInt32(x.block_time - earlier_seconds) AS block_time,
      x.side AS side,
      x.base_mint AS base_mint,
      perturb(x.base_amount) AS base_amount,
      x.base_decimals AS base_decimals,
      x.quote_mint AS quote_mint,
      perturb(x.quote_amount) AS quote_amount,
      x.program AS program,
      x.confidence AS confidence,
      x.quote_mismatch AS quote_mismatch,
      coarsen(x.fee_lamports, 2) AS fee_lamports,
      coarsen(x.sol_price_usd_e9, 3) AS sol_price_usd_e9,
      perturb(x.value_lamports) AS value_lamports,
      if(throwIf(k.key = '', 'there is no key of event ids yet: the next start of a worker makes it'), '', lower(hex(substring(HMAC('sha256', concat(reinterpretAsFixedString(x.slot), reinterpretAsFixedString(x.tx_index), reinterpretAsFixedString(x.wallet), reinterpretAsFixedString(x.event_index), s.salt), k.key), 1, 16)))) AS event_id,
      x.version AS revision,
      toDateTime64(toStartOfHour(x.inserted_at), 3, 'UTC') AS updated_at,
      x.is_deleted AS is_deleted
    FROM swaps AS x
    CROSS JOIN (SELECT min(key) AS key FROM event_id_key) AS k
    CROSS JOIN (SELECT argMax(salt, version) AS salt FROM privacy_salt) AS s
    WHERE (SELECT argMax(salt, version) != '' FROM privacy_salt)
)
COMMENT 'Versions of swaps, for incremental loads';

CREATE OR REPLACE VIEW {analyst}.transfer_changes
(
    wallet String COMMENT 'Alias of the wallet, for example W12',
    wallet_number UInt32 COMMENT 'The number in the alias: 12 of W12. A condition on it is faster than one on the alias',
    block_time UInt32 COMMENT 'Unix seconds of the block',
    direction Enum8('in' = 1, 'out' = 2) COMMENT 'Seen from the wallet',
    mint String COMMENT 'Mint of the token',
    amount UInt128 COMMENT 'Raw units, after the mint''s transfer fee',
    decimals UInt8 COMMENT 'Decimals of the token',
    event_id String COMMENT 'Names the event in every view: 32 hexadecimal digits, opaque; all change with PRIVACY_SALT',
    revision UInt64 COMMENT 'Of the rows of one event_id the highest counts, and of equal ones the newest',
    updated_at DateTime64(3, 'UTC') COMMENT 'When this version was stored; with PRIVACY_SALT the full hour before',
    is_deleted UInt8 COMMENT '1: there is no such event any more',
    time DateTime('UTC') COMMENT 'block_time as a time',
    block_time_utc DateTime('UTC') COMMENT 'block_time as a time',
    tokens Float64 COMMENT 'amount in whole tokens, as a double'
)
DEFINER = CURRENT_USER SQL SECURITY DEFINER
AS SELECT *,
  toDateTime(block_time, 'UTC') AS time,
  toDateTime(block_time, 'UTC') AS block_time_utc,
  amount / exp10(decimals) AS tokens
FROM
(
    SELECT concat('W', toString(x.wallet)) AS wallet,
      x.wallet AS wallet_number,
      x.block_time AS block_time,
      x.direction AS direction,
      x.mint AS mint,
      x.amount AS amount,
      x.decimals AS decimals,
      if(throwIf(k.key = '', 'there is no key of event ids yet: the next start of a worker makes it'), '', lower(hex(substring(HMAC('sha256', concat(reinterpretAsFixedString(x.slot), reinterpretAsFixedString(x.tx_index), reinterpretAsFixedString(x.wallet), reinterpretAsFixedString(x.event_index)), k.key), 1, 16)))) AS event_id,
      x.version AS revision,
      x.inserted_at AS updated_at,
      x.is_deleted AS is_deleted
    FROM transfers AS x
    CROSS JOIN (SELECT min(key) AS key FROM event_id_key) AS k
    WHERE (SELECT argMax(salt, version) = '' FROM privacy_salt)
    UNION ALL
    WITH
      HMAC('sha256', concat(reinterpretAsFixedString(x.slot), reinterpretAsFixedString(x.tx_index), reinterpretAsFixedString(x.wallet), reinterpretAsFixedString(x.event_index)), s.salt) AS noise,
      3 + bitAnd(reinterpretAsUInt64(substring(noise, 7, 8)), 281474976710655) % 14 AS earlier_seconds,
      ((amount, digits) -> toUInt256(rpad('1', 1 + greatest(length(toString(amount)), digits) - digits, '0'))) AS step_of,
      ((amount, digits) -> intDiv(toUInt256(amount) + intDiv(step_of(amount, digits), 2), step_of(amount, digits)) * step_of(amount, digits)) AS coarsen
    SELECT concat('W', toString(x.wallet)) AS wallet,
      x.wallet AS wallet_number,
      toUInt32(x.block_time - earlier_seconds) AS block_time,
      x.direction AS direction,
      x.mint AS mint,
      coarsen(x.amount, 2) AS amount,
      x.decimals AS decimals,
      if(throwIf(k.key = '', 'there is no key of event ids yet: the next start of a worker makes it'), '', lower(hex(substring(HMAC('sha256', concat(reinterpretAsFixedString(x.slot), reinterpretAsFixedString(x.tx_index), reinterpretAsFixedString(x.wallet), reinterpretAsFixedString(x.event_index), s.salt), k.key), 1, 16)))) AS event_id,
      x.version AS revision,
      toDateTime64(toStartOfHour(x.inserted_at), 3, 'UTC') AS updated_at,
      x.is_deleted AS is_deleted
    FROM transfers AS x
    CROSS JOIN (SELECT min(key) AS key FROM event_id_key) AS k
    CROSS JOIN (SELECT argMax(salt, version) AS salt FROM privacy_salt) AS s
    WHERE (SELECT argMax(salt, version) != '' FROM privacy_salt)
)
COMMENT 'Versions of token transfers, for incremental loads';

CREATE OR REPLACE VIEW {analyst}.sol_transfer_changes
(
    wallet String COMMENT 'Alias of the wallet, for example W12',
    wallet_number UInt32 COMMENT 'The number in the alias: 12 of W12. A condition on it is faster than one on the alias',
    block_time UInt32 COMMENT 'Unix seconds of the block',
    direction Enum8('in' = 1, 'out' = 2) COMMENT 'Seen from the wallet',
    lamports UInt64 COMMENT 'Lamports moved, above zero',
    event_id String COMMENT 'Names the event in every view: 32 hexadecimal digits, opaque; all change with PRIVACY_SALT',
    revision UInt64 COMMENT 'Of the rows of one event_id the highest counts, and of equal ones the newest',
    updated_at DateTime64(3, 'UTC') COMMENT 'When this version was stored; with PRIVACY_SALT the full hour before',
    is_deleted UInt8 COMMENT '1: there is no such event any more',
    time DateTime('UTC') COMMENT 'block_time as a time',
    block_time_utc DateTime('UTC') COMMENT 'block_time as a time',
    sol Float64 COMMENT 'lamports in SOL, as a double'
)
DEFINER = CURRENT_USER SQL SECURITY DEFINER
AS SELECT *,
  toDateTime(block_time, 'UTC') AS time,
  toDateTime(block_time, 'UTC') AS block_time_utc,
  lamports / 1e9 AS sol
FROM
(
    SELECT concat('W', toString(x.wallet)) AS wallet,
      x.wallet AS wallet_number,
      x.block_time AS block_time,
      x.direction AS direction,
      x.lamports AS lamports,
      if(throwIf(k.key = '', 'there is no key of event ids yet: the next start of a worker makes it'), '', lower(hex(substring(HMAC('sha256', concat(reinterpretAsFixedString(x.slot), reinterpretAsFixedString(x.tx_index), reinterpretAsFixedString(x.wallet), reinterpretAsFixedString(x.event_index)), k.key), 1, 16)))) AS event_id,
      x.version AS revision,
      x.inserted_at AS updated_at,
      x.is_deleted AS is_deleted
    FROM sol_transfers AS x
    CROSS JOIN (SELECT min(key) AS key FROM event_id_key) AS k
    WHERE (SELECT argMax(salt, version) = '' FROM privacy_salt)
    UNION ALL
    WITH
      HMAC('sha256', concat(reinterpretAsFixedString(x.slot), reinterpretAsFixedString(x.tx_index), reinterpretAsFixedString(x.wallet), reinterpretAsFixedString(x.event_index)), s.salt) AS noise,
      3 + bitAnd(reinterpretAsUInt64(substring(noise, 7, 8)), 281474976710655) % 14 AS earlier_seconds,
      ((amount, digits) -> toUInt256(rpad('1', 1 + greatest(length(toString(amount)), digits) - digits, '0'))) AS step_of,
      ((amount, digits) -> intDiv(toUInt256(amount) + intDiv(step_of(amount, digits), 2), step_of(amount, digits)) * step_of(amount, digits)) AS coarsen
    SELECT concat('W', toString(x.wallet)) AS wallet,
      x.wallet AS wallet_number,
      toUInt32(x.block_time - earlier_seconds) AS block_time,
      x.direction AS direction,
      coarsen(x.lamports, 2) AS lamports,
      if(throwIf(k.key = '', 'there is no key of event ids yet: the next start of a worker makes it'), '', lower(hex(substring(HMAC('sha256', concat(reinterpretAsFixedString(x.slot), reinterpretAsFixedString(x.tx_index), reinterpretAsFixedString(x.wallet), reinterpretAsFixedString(x.event_index), s.salt), k.key), 1, 16)))) AS event_id,
      x.version AS revision,
      toDateTime64(toStartOfHour(x.inserted_at), 3, 'UTC') AS updated_at,
      x.is_deleted AS is_deleted
    FROM sol_transfers AS x
    CROSS JOIN (SELECT min(key) AS key FROM event_id_key) AS k
    CROSS JOIN (SELECT argMax(salt, version) AS salt FROM privacy_salt) AS s
    WHERE (SELECT argMax(salt, version) != '' FROM privacy_salt)
)
COMMENT 'Versions of SOL transfers, for incremental loads';
