import test, { type ExecutionContext } from 'ava'
import fc from 'fast-check'
import { DECODER_VERSION } from '../../domain/decoder-version.ts'
import type { DecodedRecord } from '../../domain/slot.ts'
import type { BatchHandler, EventLog, LogRecord } from '../../log/log.ts'
import type { LateOrigin } from '../../log/log-message.ts'
import { createMemoryStateLog } from '../../log/memory-state-log.ts'
import { createLogger } from '../../runtime/logger.ts'
import { createRegistry } from '../../runtime/telemetry.ts'
import { migrate } from '../../store/migrate.ts'
import type { Row } from '../../store/store.ts'
import { addTrackedWallets } from '../../store/tables/tracked-wallets.ts'
import { emptyTables, openTestStore, type TestStore } from '../../testing/test-store.ts'
import { startFold } from './fold.ts'

/*
 * Events that a newer decoder made of a transaction replace all of an older one's, whatever path
 * brings them (rule K10): a replay, a late transaction, a backfill.
 */

const OLD = DECODER_VERSION - 1
const NEW = DECODER_VERSION
const logger = createLogger('silent')

let opened: TestStore
test.before(async () => {
  opened = await openTestStore()
  await migrate(opened.store)
})
test.after.always(() => opened.remove())

/** Records as one batch of the log, with the version of the decoder that made them. */
interface Delivery {
  readonly records: readonly DecodedRecord[]
  readonly version: number
  readonly late: LateOrigin | null
}

/** Hands batches of one partition to a fold worker, and returns the tables. */
async function fold(deliveries: readonly Delivery[]): Promise<Record<string, Row[]>> {
  const { store } = opened
  await emptyTables(store)
  await addTrackedWallets(store, ['1'.repeat(43)] as never[], [], 1) // addresses are opaque here
  let handler: BatchHandler = async () => {}
  const log: Partial<EventLog> = {
    partitions: 1,
    states: createMemoryStateLog(1),
    epoch: 0,
    extent: async () => ({ id: 'a', partitions: new Map([[0, { low: 0n, end: 0n }]]) }),
    async consume(options, given) {
      if (options.mode === 'shared')
        await options.onAssigned?.({
          partitions: [0],
          generation: async () => 0,
          confirm: async () => {},
        })
      handler = given
      return { close: async () => {} }
    },
  }
  const start = () =>
    startFold({
      store,
      log: log as EventLog, // a worker uses no more of it
      logger,
      registry: createRegistry(),
      windowMs: 0,
      onBug: () => {},
    })
  const worker = await start()
  let offset = 0n
  for (const { records, version, late } of deliveries)
    await handler({
      partition: 0,
      records: records.map(
        (record): LogRecord => ({
          offset: offset++,
          kind: 'record',
          record,
          late,
          decoderVersion: version,
        }),
      ),
    })
  await worker.stop()
  const next = await start()
  await next.amend([], async () => {}) // carries out deferred refolds
  await next.stop()
  const tables: Record<string, Row[]> = {}
  for (const table of TABLES)
    tables[table] = await store.query(
      `SELECT * EXCEPT (${APART[table] ?? 'version, is_deleted, inserted_at'}) FROM ${table} FINAL ORDER BY ALL`,
    )
  return tables
}

const TABLES = ['swaps', 'transfers', 'sol_transfers', 'undecoded', 'lots', 'positions']
const EVENT_APART = 'version, is_deleted, inserted_at, late, decoder_version'
const APART: Record<string, string> = {
  swaps: EVENT_APART,
  transfers: EVENT_APART,
  sol_transfers: EVENT_APART,
  undecoded: 'version, is_deleted, inserted_at, decoder_version',
  lots: 'version, is_deleted',
}

const MINT = 'm'.repeat(43) as never // opaque
const WSOL = 'So11111111111111111111111111111111111111112' as never
const place = { slot: 100, txIndex: 7, wallet: 1, blockTime: 1_700_000_000 }
const signature = 's'
const balance: DecodedRecord = { kind: 'balance', ...place, lamports: 5n, lamportsBefore: 4n }
/** A transaction that does not name the wallet itself has links of its token accounts alone. */
const link: DecodedRecord = {
  kind: 'token_link',
  ...place,
  account: MINT,
  mint: MINT,
  before: 1n,
  after: 2n,
}
const buyAt = (eventIndex: number, amount: bigint): DecodedRecord => ({
  kind: 'swap',
  ...place,
  eventIndex,
  signature,
  side: 'buy',
  baseMint: MINT,
  baseAmount: amount,
  baseDecimals: 6,
  quoteMint: WSOL,
  quoteAmount: 1000n,
  program: 'unknown',
  programId: MINT,
  pool: null,
  confidence: 'delta_only',
  quoteMismatch: false,
  feeLamports: 0n,
  solPriceUsdE9: 150_000_000_000n,
})
const tokenAt = (eventIndex: number, amount: bigint): DecodedRecord => ({
  kind: 'token_transfer',
  ...place,
  eventIndex,
  signature,
  direction: 'in',
  mint: MINT,
  amount,
  decimals: 6,
})
const solAt = (eventIndex: number, lamports: bigint): DecodedRecord => ({
  kind: 'sol_transfer',
  ...place,
  eventIndex,
  signature,
  direction: 'in',
  lamports,
})
const undecoded: DecodedRecord = {
  kind: 'undecoded',
  ...place,
  signature,
  programId: null,
  reason: 'unknown_mint',
}
/** A trade before and one after the transaction. */
const around = [
  { ...buyAt(0, 11n), slot: 90 },
  { ...buyAt(0, 13n), slot: 110 },
] as DecodedRecord[]

/** What a decoder makes of the transaction: events with dense indexes, or one undecoded record. */
const aDecoding: fc.Arbitrary<DecodedRecord[]> = fc.oneof(
  { weight: 1, arbitrary: fc.constant<DecodedRecord[]>([undecoded, link]) },
  {
    weight: 5,
    arbitrary: fc
      .tuple(
        fc.array(fc.tuple(fc.constantFrom(buyAt, tokenAt, solAt), fc.bigInt(1n, 4n)), {
          maxLength: 4,
        }),
        fc.constantFrom(balance, link),
      )
      .map(([events, last]) => [
        ...events.map(([make, amount], index) => make(index, amount)),
        last,
      ]),
  },
)

const stays = (records: readonly DecodedRecord[], version = OLD): Delivery => ({
  records,
  version,
  late: null,
})

/** Compares with the tables of a run that saw only the records of the newer decoder. */
async function leadsTo(
  t: ExecutionContext,
  deliveries: readonly Delivery[],
  made: readonly DecodedRecord[],
): Promise<void> {
  const [before, after] = around
  const expected = await fold([stays([before!]), stays(made, NEW), stays([after!], NEW)])
  t.deepEqual(await fold([stays([before!]), ...deliveries]), expected)
}

test.serial(
  'any events of a newer decoder replace all of an older one, in any order, whole or cut in two, as a replay, late or by a backfill (rule K10)',
  async (t) => {
    await fc.assert(
      fc.asyncProperty(
        aDecoding,
        aDecoding,
        fc.nat({ max: 4 }),
        fc.constantFrom<LateOrigin | null>(null, 'stream', 'backfill'),
        fc.boolean(),
        async (old, made, cut, late, isLast) => {
          const after = around.slice(1)
          const again = [
            { records: made.slice(0, cut), version: NEW, late },
            { records: made.slice(cut), version: NEW, late },
            { records: old, version: OLD, late },
            { records: made, version: NEW, late },
          ]
          await leadsTo(
            t,
            isLast
              ? [stays(old), ...again, stays(after, NEW)]
              : [stays(old), stays(after), ...again],
            made,
          )
        },
      ),
      {
        numRuns: 25,
        examples: [
          [[buyAt(0, 1n), balance], [solAt(0, 2n), buyAt(1, 1n), balance], 1, 'backfill', true],
        ],
      },
    )
  },
)

test.serial('of two decoders in one batch the newer one counts (rule K10)', async (t) => {
  const made = [solAt(0, 2n), buyAt(1, 1n), balance]
  const { store } = opened
  await leadsTo(t, [stays([buyAt(0, 1n), balance]), stays(made, NEW), stays(around.slice(1))], made)
  t.deepEqual(await store.query('SELECT count() AS rows FROM swaps FINAL'), [{ rows: '3' }])
})

test.serial(
  'a transaction that lacks decimals now keeps its stored events; one that lacked them gets its events (rule K10)',
  async (t) => {
    const events = [buyAt(0, 1n), balance]
    const lacking = [{ ...undecoded, reason: 'unknown_decimals' } as DecodedRecord, balance]
    const after = stays(around.slice(1), NEW)
    const again = (records: DecodedRecord[]): Delivery => ({
      records,
      version: NEW,
      late: 'backfill',
    })
    await leadsTo(t, [stays(events), after, again(lacking)], events)
    await leadsTo(t, [stays(lacking, NEW), after, again(events)], events)
  },
)
