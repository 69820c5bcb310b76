import type { WalletRecord } from '../domain/slot.ts'
import * as t from './value-types.ts'

/** How a field of a record is written on the log and stored. */
export interface AnyField {
  readonly type: t.AnyValueType
  /** The column of the record's table; null for a field that is only on the log. */
  readonly column: string | null
  /** Returns the value in the column, where that is not the value of the field. */
  readonly toColumn?: (value: never) => unknown
  /** Format version of the log that added the field, 1 by default. Null in older entries. */
  readonly since?: number
}

interface Field<in out T> extends AnyField {
  readonly type: t.ValueType<T>
  readonly toColumn?: (value: T) => unknown
}

/** A kind of record: its table and its fields. The log has each field under its own name. */
export interface RecordType {
  readonly table: string
  readonly fields: Readonly<Record<string, AnyField>>
}

/** Exactly the fields of `T`, also where a descriptor spreads the fields of another. */
type FieldsOf<T> = { readonly [K in Exclude<keyof T, 'kind'>]-?: Field<T[K]> } & {
  readonly [K in Exclude<FieldName, keyof T>]?: never
}

/** Distributes over the union: the fields of every record, not only those that all share. */
type FieldName<T = WalletRecord> = T extends unknown ? keyof T : never

function field<T>(
  type: t.ValueType<T>,
  column: string | null,
  options: Pick<Field<T>, 'toColumn' | 'since'> = {},
): Field<T> {
  return { type, column, ...options }
}

const recordFields = {
  slot: field(t.natural, 'slot'),
  txIndex: field(t.natural, 'tx_index'),
  wallet: field(t.walletNumber, 'wallet'),
  blockTime: field(t.unixSeconds, 'block_time'),
}

const transaction = { ...recordFields, signature: field(t.signature, 'signature') }

const event = { ...transaction, eventIndex: field(t.natural, 'event_index') }

const direction = field(t.oneOf('in', 'out'), 'direction')

/** Every record type by its `kind`. The types of the fields are documented in `domain/event.ts`. */
export const RECORD_TYPES = {
  swap: {
    table: 'swaps',
    fields: {
      ...event,
      side: field(t.oneOf('buy', 'sell'), 'side'),
      baseMint: field(t.pubkey, 'base_mint'),
      baseAmount: field(t.u128, 'base_amount'),
      baseDecimals: field(t.u8, 'base_decimals'),
      quoteMint: field(t.nullable(t.pubkey), 'quote_mint'),
      quoteAmount: field(t.u128, 'quote_amount'),
      program: field(t.shortText, 'program'),
      programId: field(t.pubkey, 'program_id'),
      pool: field(t.nullable(t.pubkey), 'pool', { toColumn: (pool) => pool ?? '', since: 2 }),
      confidence: field(t.oneOf('high', 'delta_only'), 'confidence'),
      quoteMismatch: field(t.boolean, 'quote_mismatch'),
      feeLamports: field(t.u64, 'fee_lamports'),
      solPriceUsdE9: field(t.nullable(t.u64), 'sol_price_usd_e9'),
    },
  },
  token_transfer: {
    table: 'transfers',
    fields: {
      ...event,
      direction,
      mint: field(t.pubkey, 'mint'),
      amount: field(t.u128, 'amount'),
      decimals: field(t.u8, 'decimals'),
    },
  },
  sol_transfer: {
    table: 'sol_transfers',
    fields: { ...event, direction, lamports: field(t.u64, 'lamports') },
  },
  balance: {
    table: 'sol_balances',
    fields: {
      ...recordFields,
      lamports: field(t.u64, 'lamports'),
      lamportsBefore: field(t.nullable(t.u64), 'lamports_before', { since: 3 }),
    },
  },
  token_link: {
    table: 'token_links',
    fields: {
      ...recordFields,
      account: field(t.pubkey, 'account'),
      mint: field(t.pubkey, 'mint'),
      before: field(t.u64, 'amount_before'),
      after: field(t.u64, 'amount_after'),
    },
  },
  undecoded: {
    table: 'undecoded',
    fields: {
      ...transaction,
      programId: field(t.nullable(t.pubkey), 'program_id'),
      reason: field(t.shortText, 'reason'),
    },
  },
  kept: {
    table: 'transactions',
    fields: {
      ...transaction,
      format: field(t.u8, 'format'),
      bytes: field(t.keptBytes, 'base64', { toColumn: t.base64Of }),
    },
  },
} as const satisfies {
  readonly [K in Kind]: { table: string; fields: FieldsOf<Extract<WalletRecord, { kind: K }>> }
}

type Kind = WalletRecord['kind']

/** Returns the result of `make` for every record type. */
export function mapRecordTypes<T>(
  make: (type: RecordType, kind: Kind) => T,
): Readonly<Record<Kind, T>> {
  const types = Object.entries<RecordType>(RECORD_TYPES)
  const made = types.map(([kind, type]) => [kind, make(type, kind as Kind)])
  return Object.fromEntries(made) // with every kind
}
