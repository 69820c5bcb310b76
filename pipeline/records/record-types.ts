import type { WalletRecord } from '../domain/slot.ts'
import { swapValueLamports } from '../domain/swap-value.ts'
import {
  type AnyValueType,
  address,
  base64Of,
  boolean,
  keptBytes,
  natural,
  nullable,
  oneOf,
  shortText,
  signature,
  u8,
  u64,
  u128,
  unixSeconds,
  type ValueType,
  walletNumber,
} from './value-types.ts'

/** How a field of a record is written on the log and stored. */
export interface AnyField {
  readonly type: AnyValueType
  /** The column of the record's table; null for a field that is only on the log. */
  readonly column: string | null
  /** Returns the value in the column, where that is not the value of the field. */
  readonly toColumn?: (value: never) => unknown
  /** Format version of the log that added the field, 1 by default. Null in older entries. */
  readonly since?: number
}

interface Field<in out T> extends AnyField {
  readonly type: ValueType<T>
  readonly toColumn?: (value: T) => unknown
}

/** A kind of record: its table and its fields. The log has each field under its own name. */
export interface AnyRecordType {
  readonly table: string
  readonly fields: Readonly<Record<string, AnyField>>
  /** Columns that are computed from the record. */
  readonly computed?: Readonly<Record<string, (record: never) => unknown>>
}

interface RecordType<T extends WalletRecord> {
  readonly table: string
  readonly fields: FieldsOf<T>
  readonly computed?: Readonly<Record<string, (record: T) => unknown>>
}

/** Exactly the fields of `T`, also where a descriptor spreads the fields of another. */
type FieldsOf<T> = { readonly [K in Exclude<keyof T, 'kind'>]-?: Field<T[K]> } & {
  readonly [K in Exclude<FieldName, keyof T>]?: never
}

/** Distributes over the union: the fields of every record, not only those that all share. */
type FieldName<T = WalletRecord> = T extends unknown ? keyof T : never

function field<T>(
  type: ValueType<T>,
  column: string | null,
  options: Pick<Field<T>, 'toColumn' | 'since'> = {},
): Field<T> {
  return { type, column, ...options }
}

const place = {
  slot: field(natural, 'slot'),
  txIndex: field(natural, 'tx_index'),
  wallet: field(walletNumber, 'wallet'),
  blockTime: field(unixSeconds, 'block_time'),
}

const transaction = { ...place, signature: field(signature, 'signature') }

const event = { ...transaction, eventIndex: field(natural, 'event_index') }

const direction = field(oneOf('in', 'out'), 'direction')

/** Every record type by its `kind`. The types of the fields are documented in `domain/event.ts`. */
export const RECORD_TYPES = {
  swap: {
    table: 'swaps',
    fields: {
      ...event,
      side: field(oneOf('buy', 'sell'), 'side'),
      baseMint: field(address, 'base_mint'),
      baseAmount: field(u128, 'base_amount'),
      baseDecimals: field(u8, 'base_decimals'),
      quoteMint: field(nullable(address), 'quote_mint'),
      quoteAmount: field(u128, 'quote_amount'),
      program: field(shortText, 'program'),
      programId: field(address, 'program_id'),
      pool: field(nullable(address), 'pool', { toColumn: (pool) => pool ?? '', since: 2 }),
      confidence: field(oneOf('high', 'delta_only'), 'confidence'),
      quoteMismatch: field(boolean, 'quote_mismatch'),
      feeLamports: field(u64, 'fee_lamports'),
      solPriceUsdE9: field(nullable(u64), 'sol_price_usd_e9'),
    },
    computed: { value_lamports: swapValueLamports },
  },
  token_transfer: {
    table: 'transfers',
    fields: {
      ...event,
      direction,
      mint: field(address, 'mint'),
      amount: field(u128, 'amount'),
      decimals: field(u8, 'decimals'),
    },
  },
  sol_transfer: {
    table: 'sol_transfers',
    fields: { ...event, direction, lamports: field(u64, 'lamports') },
  },
  balance: {
    table: 'sol_balances',
    fields: { ...place, lamports: field(u64, 'lamports') },
  },
  undecoded: {
    table: 'undecoded',
    fields: {
      ...transaction,
      programId: field(nullable(address), 'program_id'),
      reason: field(shortText, 'reason'),
    },
  },
  kept: {
    table: 'transactions',
    fields: {
      ...transaction,
      wallet: field(walletNumber, null),
      format: field(u8, 'format'),
      bytes: field(keptBytes, 'base64', { toColumn: base64Of }),
    },
  },
} as const satisfies {
  readonly [K in WalletRecord['kind']]: RecordType<Extract<WalletRecord, { kind: K }>>
}

/** Returns the result of `make` for every record type. */
export function mapRecordTypes<T>(
  make: (type: AnyRecordType, kind: WalletRecord['kind']) => T,
): Readonly<Record<WalletRecord['kind'], T>> {
  const types = Object.entries<AnyRecordType>(RECORD_TYPES) as [
    WalletRecord['kind'],
    AnyRecordType,
  ][]
  return Object.fromEntries(types.map(([kind, type]) => [kind, make(type, kind)])) as never // every kind is there
}
