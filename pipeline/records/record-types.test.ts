import test from 'ava'
import fc from 'fast-check'
import { address } from '../domain/address.ts'
import { WSOL } from '../domain/quote.ts'
import type { WalletRecord } from '../domain/slot.ts'
import { decodeMessage, encodeMessage } from '../log/record.ts'
import { migrate } from '../store/migrate.ts'
import type { Row } from '../store/store.ts'
import { ANY_RECORD } from '../testing/arbitraries.ts'
import { openTestStore, type TestStore } from '../testing/test-store.ts'
import { recordRow } from '../workers/fold/event-rows.ts'
import { mapRecordTypes, RECORD_TYPES } from './record-types.ts'
import * as t from './value-types.ts'

const recordFields = { slot: 405_000_123, txIndex: 17, wallet: 12, blockTime: 1_790_000_000 }
const signature = '5'.repeat(88)
const MINT = address('DezXAZ8z7PnrnRJjz3wXBoRgixCa6xjnB7YaB1pPB263')
const PROGRAM = address('pAMMBay6oceH9fJKBRHGP5D4bD4sWpmSwMn52FMfXEA')
const POOL = address('9BB6NFEcjBCtnNLFko2FqVQBq8HHM13kCyYcdQbgpump')

interface Example {
  readonly record: WalletRecord
  /** The fields of its log entry, between the format version and `late`. */
  readonly text: string
  /** Its row. */
  readonly row: Row
}

const fieldsText = '"slot":405000123,"txIndex":17,"wallet":12,"blockTime":1790000000'
const eventText = `${fieldsText},"signature":"${signature}"`
const fieldsRow = { slot: 405_000_123, tx_index: 17, wallet: 12, block_time: 1_790_000_000 }
const origin = { decoder_version: 3 }
const eventOrigin = { late: 'stream', ...origin }

/** Entries and rows as version 3 of the format and the schema have them. They must not change. */
const EXAMPLES: readonly Example[] = [
  {
    record: {
      kind: 'swap',
      ...recordFields,
      signature,
      eventIndex: 1,
      side: 'buy',
      baseMint: MINT,
      baseAmount: 2n ** 128n - 1n,
      baseDecimals: 5,
      quoteMint: WSOL,
      quoteAmount: 1_500_000_000n,
      program: 'pumpswap',
      programId: PROGRAM,
      pool: POOL,
      confidence: 'high',
      quoteMismatch: false,
      feeLamports: 10_000n,
      solPriceUsdE9: 150_000_000_001n,
    },
    text: `"kind":"swap",${eventText},"eventIndex":1,"side":"buy","baseMint":"${MINT}","baseAmount":"340282366920938463463374607431768211455","baseDecimals":5,"quoteMint":"${WSOL}","quoteAmount":"1500000000","program":"pumpswap","programId":"${PROGRAM}","pool":"${POOL}","confidence":"high","quoteMismatch":false,"feeLamports":"10000","solPriceUsdE9":"150000000001"`,
    row: {
      ...fieldsRow,
      event_index: 1,
      signature,
      side: 'buy',
      base_mint: MINT,
      base_amount: 2n ** 128n - 1n,
      base_decimals: 5,
      quote_mint: WSOL,
      quote_amount: 1_500_000_000n,
      program: 'pumpswap',
      program_id: PROGRAM,
      pool: POOL,
      confidence: 'high',
      quote_mismatch: false,
      fee_lamports: 10_000n,
      sol_price_usd_e9: 150_000_000_001n,
      value_lamports: 1_500_000_000n,
      ...eventOrigin,
    },
  },
  {
    record: {
      kind: 'swap',
      ...recordFields,
      signature,
      eventIndex: 2,
      side: 'sell',
      baseMint: MINT,
      baseAmount: 7n,
      baseDecimals: 5,
      quoteMint: null,
      quoteAmount: 0n,
      program: 'unknown',
      programId: PROGRAM,
      pool: null,
      confidence: 'delta_only',
      quoteMismatch: true,
      feeLamports: 0n,
      solPriceUsdE9: null,
    },
    text: `"kind":"swap",${eventText},"eventIndex":2,"side":"sell","baseMint":"${MINT}","baseAmount":"7","baseDecimals":5,"quoteMint":null,"quoteAmount":"0","program":"unknown","programId":"${PROGRAM}","pool":null,"confidence":"delta_only","quoteMismatch":true,"feeLamports":"0","solPriceUsdE9":null`,
    row: {
      ...fieldsRow,
      event_index: 2,
      signature,
      side: 'sell',
      base_mint: MINT,
      base_amount: 7n,
      base_decimals: 5,
      quote_mint: null,
      quote_amount: 0n,
      program: 'unknown',
      program_id: PROGRAM,
      pool: '',
      confidence: 'delta_only',
      quote_mismatch: true,
      fee_lamports: 0n,
      sol_price_usd_e9: null,
      value_lamports: null,
      ...eventOrigin,
    },
  },
  {
    record: {
      kind: 'token_transfer',
      ...recordFields,
      signature,
      eventIndex: 0,
      direction: 'in',
      mint: MINT,
      amount: 7n,
      decimals: 5,
    },
    text: `"kind":"token_transfer",${eventText},"eventIndex":0,"direction":"in","mint":"${MINT}","amount":"7","decimals":5`,
    row: {
      ...fieldsRow,
      event_index: 0,
      signature,
      direction: 'in',
      mint: MINT,
      amount: 7n,
      decimals: 5,
      ...eventOrigin,
    },
  },
  {
    record: {
      kind: 'sol_transfer',
      ...recordFields,
      signature,
      eventIndex: 3,
      direction: 'out',
      lamports: 2n ** 64n - 1n,
    },
    text: `"kind":"sol_transfer",${eventText},"eventIndex":3,"direction":"out","lamports":"18446744073709551615"`,
    row: {
      ...fieldsRow,
      event_index: 3,
      signature,
      direction: 'out',
      lamports: 2n ** 64n - 1n,
      ...eventOrigin,
    },
  },
  {
    record: {
      kind: 'balance',
      ...recordFields,
      lamports: 99_999_995_000n,
      lamportsBefore: 100_000_000_000n,
    },
    text: `"kind":"balance",${fieldsText},"lamports":"99999995000","lamportsBefore":"100000000000"`,
    row: {
      ...fieldsRow,
      lamports: 99_999_995_000n,
      lamports_before: 100_000_000_000n,
      ...origin,
    },
  },
  {
    record: {
      kind: 'token_link',
      ...recordFields,
      account: POOL,
      mint: MINT,
      before: 0n,
      after: 2n ** 64n - 1n,
    },
    text: `"kind":"token_link",${fieldsText},"account":"${POOL}","mint":"${MINT}","before":"0","after":"18446744073709551615"`,
    row: {
      ...fieldsRow,
      account: POOL,
      mint: MINT,
      amount_before: 0n,
      amount_after: 2n ** 64n - 1n,
      ...origin,
    },
  },
  {
    record: {
      kind: 'undecoded',
      ...recordFields,
      signature,
      programId: PROGRAM,
      reason: 'no_inner_instructions',
    },
    text: `"kind":"undecoded",${eventText},"programId":"${PROGRAM}","reason":"no_inner_instructions"`,
    row: {
      ...fieldsRow,
      signature,
      program_id: PROGRAM,
      reason: 'no_inner_instructions',
      ...origin,
    },
  },
  {
    record: {
      kind: 'kept',
      ...recordFields,
      signature,
      format: 1,
      bytes: Uint8Array.of(1, 2, 3, 4),
    },
    text: `"kind":"kept",${eventText},"format":1`,
    row: {
      ...fieldsRow,
      signature,
      format: 1,
      base64: 'AQIDBA==',
      ...origin,
    },
  },
]

const messageOf = (record: WalletRecord) =>
  ({ kind: 'record', record, late: 'stream', blockId: 7n, decoderVersion: 3 }) as const
const read = (entry: string | Buffer) =>
  decodeMessage(typeof entry === 'string' ? Buffer.from(entry) : entry)
/** The text of an entry; with the bytes of a kept transaction in base64, as in formats 1 and 2. */
function textOf(record: WalletRecord): string {
  const [text = ''] = String(encodeMessage(messageOf(record))).split('\n')
  if (record.kind !== 'kept') return text
  return `${text.slice(0, -1)},"bytes":"${t.base64Of(record.bytes)}"}`
}

test('every record type has an example', (check) => {
  const kinds = new Set<string>(EXAMPLES.map(({ record }) => record.kind))
  check.deepEqual([...kinds].sort(), Object.keys(RECORD_TYPES).sort())
})

test('the log entry of each record type does not change', (check) => {
  for (const { record, text } of EXAMPLES) {
    const bytes = record.kind === 'kept' ? ',"bytes":"AQIDBA=="' : ''
    const entry = `{"v":3,${text},"late":"stream","blockId":"7","decoderVersion":3${bytes}}`
    check.is(textOf(record), entry)
    check.deepEqual(read(entry), { kind: 'ok', message: messageOf(record) })
  }
})

test('any record of each type is read from the log as it was written', (check) => {
  for (const aRecord of Object.values(ANY_RECORD))
    fc.assert(
      fc.property(aRecord, (record) => {
        check.deepEqual(read(encodeMessage(messageOf(record))), {
          kind: 'ok',
          message: messageOf(record),
        })
      }),
    )
})

test('an entry with a field that is missing, wrong or unknown is refused', (check) => {
  const refused = { kind: 'malformed', reason: 'wrong_shape' }
  for (const { record } of EXAMPLES) {
    const entry: Record<string, unknown> = JSON.parse(textOf(record))
    const { fields } = mapRecordTypes((type) => type)[record.kind]
    const types: [string, t.AnyValueType][] = [
      ...Object.entries(fields).map(([name, { type }]): [string, t.AnyValueType] => [name, type]),
      ['kind', t.oneOf(...Object.keys(RECORD_TYPES))],
      ['late', t.nullable(t.oneOf('stream', 'backfill'))],
      ['blockId', t.nullable(t.u64)],
      ['decoderVersion', t.integerBetween(1, 0xffff)],
    ]
    check.deepEqual(Object.keys(entry).sort(), ['v', ...types.map(([name]) => name)].sort())
    for (const [name, type] of types) {
      const wrong = ODD_VALUES.filter((value) => type.read(value) === undefined)
      check.true(wrong.length >= 10, name)
      for (const value of wrong)
        check.deepEqual(
          read(JSON.stringify({ ...entry, [name]: value })),
          refused,
          `${record.kind}.${name}: ${JSON.stringify(value)}`,
        )
      const { [name]: value, ...rest } = entry
      check.deepEqual(read(JSON.stringify(rest)), refused, `${record.kind} without ${name}`)
      check.deepEqual(read(JSON.stringify({ ...rest, [`${name}_`]: value })), refused)
    }
    for (const name of ['extra', '', 'constructor', '0'])
      check.deepEqual(read(JSON.stringify({ ...entry, [name]: null })), refused)
    check.deepEqual(read(JSON.stringify(entry).replace('{', '{"__proto__":1,')), refused)
  }
})

/** JSON values of every sort, each of which only some types have (`value-types.test.ts`). */
const ODD_VALUES = [
  ...[null, true, false, [], {}, [null], { a: 1 }],
  ...[-1, 0.5, 1.5, 256, 2 ** 16, 2 ** 32, 2 ** 53],
  ...['', '0', '00', '-1', '1e3', 'in', 'buy', 'swap', 'true', '=', 'AQID BA==', 'x'.repeat(101)],
  ...[String(2n ** 64n), String(2n ** 128n), '1'.repeat(31), '1'.repeat(32), '0'.repeat(43)],
  ...['1'.repeat(63), '1'.repeat(64), '1'.repeat(89), '0'.repeat(70)],
]

test('the row of each record type does not change', (check) => {
  for (const { record, row } of EXAMPLES) check.deepEqual(recordRow(record, 'stream', 3), row)
})

test('events in the order of the chain are stored as not late', (check) => {
  for (const { record, row } of EXAMPLES)
    check.deepEqual(recordRow(record, null, 3), 'late' in row ? { ...row, late: 'no' } : row)
})

let testStore: TestStore
test.before(async () => {
  testStore = await openTestStore()
  await migrate(testStore.store)
})
test.after.always(() => testStore.remove())

/** Columns that ClickHouse computes, or that only corrections of a row set. */
const FILLED_BY_CLICKHOUSE = ['version', 'is_deleted', 'inserted_at', 'time', 'bytes']

test('a row has every column of its table that ClickHouse does not fill', async (check) => {
  for (const { record, row } of EXAMPLES) {
    const { table } = RECORD_TYPES[record.kind]
    const columns = await testStore.store.query<{ name: string }>(`DESCRIBE TABLE ${table}`)
    const written = columns.map(({ name }) => name).filter((n) => !FILLED_BY_CLICKHOUSE.includes(n))
    check.deepEqual(Object.keys(row).sort(), written.sort(), table)
  }
})

test('a row is stored and read as it was made', async (check) => {
  for (const { record, row } of EXAMPLES) {
    const { table } = RECORD_TYPES[record.kind]
    const columns = Object.keys(row)
    await testStore.store.insert(table, [row], { columns })
    const names = columns.map((column) =>
      column === 'base64' ? 'base64Encode(bytes) AS base64' : column,
    )
    const [found] = await testStore.store.query<Row>(
      `SELECT ${names.join(', ')} FROM ${table} ORDER BY inserted_at DESC LIMIT 1`,
    )
    const texts = (values: Row) =>
      Object.fromEntries(Object.entries(values).map(([name, value]) => [name, String(value)]))
    // Format 1 is `yellowstone`.
    const expected = record.kind === 'kept' ? { ...row, format: 'yellowstone' } : row
    check.deepEqual(texts(found ?? {}), texts(expected), table)
  }
})
