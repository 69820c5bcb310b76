import test from 'ava'
import { addressFromBytes } from '../../domain/address.ts'
import { DECODER_VERSION } from '../../domain/decoder-version.ts'
import type { RefoldRequest, WalletRecord, Withdrawal } from '../../domain/slot.ts'
import type { LateOrigin } from '../../log/log-message.ts'
import { createMemoryLog } from '../../log/memory.ts'
import { createLogger } from '../../runtime/logger.ts'
import { createRegistry } from '../../runtime/telemetry.ts'
import { migrate } from '../../store/migrate.ts'
import type { Store } from '../../store/store.ts'
import { readStorageMarker } from '../../store/tables/progress.ts'
import { addTrackedWallets } from '../../store/tables/tracked-wallets.ts'
import { readWithdrawnSlots } from '../../store/tables/withdrawn-slots.ts'
import { aChain } from '../../testing/a-chain.ts'
import { aMarker } from '../../testing/a-marker.ts'
import { dyingStore } from '../../testing/dying-store.ts'
import { aForkedChain } from '../../testing/forked-chain.ts'
import { TABLE_KEYS } from '../../testing/table-keys.ts'
import { emptyTables, openTestStore, type TestStore } from '../../testing/test-store.ts'
import { createFoldMetrics } from '../telemetry.ts'
import { REFOLD_LIMITS, type RefoldLimits } from './background-refolds.ts'
import { startFold } from './fold.ts'
import { requestRefolds, waitUntilFolded } from './refold.ts'
import { storeRecords } from './store-records.ts'
import { WalletBooks } from './wallet-books.ts'
import { withdrawSlots } from './withdraw-slots.ts'

const logger = createLogger('silent')
const WALLETS = 3
/** Almost every refold runs in the background, in many slices. */
const SMALL: RefoldLimits = { rowsPerFlush: 2, rowsPerSlice: 3 }

let opened: TestStore
test.before(async () => {
  opened = await openTestStore()
  await migrate(opened.store)
})
test.after.always(() => opened.remove())

async function start(store: Store): Promise<void> {
  await emptyTables(store)
  const addresses = [1, 2, 3].map((n) => addressFromBytes(new Uint8Array(32).fill(n)))
  await addTrackedWallets(store, addresses, [], 1)
}

/** Columns that depend on when a row was written, and how often its wallet was folded. */
const APART = 'version|revision|is_deleted|inserted_at|computed_at|late'

async function dump(store: Store): Promise<Record<string, unknown[]>> {
  const tables: Record<string, unknown[]> = {}
  for (const [table, key] of Object.entries(TABLE_KEYS)) {
    const isVoidable = ['sol_balances', 'token_links', 'transactions'].includes(table)
    tables[table] = await store.query(
      `SELECT * EXCEPT('^(${APART})$') FROM ${table} FINAL ${isVoidable ? 'WHERE is_deleted = 0' : ''} ORDER BY ${key}`,
    )
  }
  tables.marks = await store.query('SELECT wallet FROM fold_snapshots FINAL WHERE format = 0')
  return tables
}

/** What a worker does between two slices. */
type Step =
  | { readonly kind: 'flush'; readonly records: readonly WalletRecord[]; late: LateOrigin | null }
  | { readonly kind: 'refold'; readonly refold: RefoldRequest }
  | { readonly kind: 'amend'; readonly wallet: number }
  | { readonly kind: 'withdrawal'; readonly withdrawal: Withdrawal; readonly at: number }

/** Late records, withdrawals, requested refolds and changes of stored events, by turns. */
function stepsOf(seed: number, slots: number): readonly Step[] {
  const { seen, forks } = aForkedChain({ seed, slots, wallets: WALLETS, lateShare: 0.2 })
  const steps: Step[] = []
  for (const [at, { records, marker }] of seen.slots.entries()) {
    steps.push({ kind: 'flush', records, late: null })
    for (const { afterSlots, records } of seen.late)
      if (afterSlots === at) steps.push({ kind: 'flush', records, late: 'stream' })
    for (const { afterSlots, withdrawal, final } of forks)
      if (afterSlots === at)
        steps.push(
          { kind: 'withdrawal', withdrawal, at: marker.slot },
          { kind: 'flush', records: final, late: 'stream' },
        )
    if (at % 3 === 2) steps.push({ kind: 'refold', refold: { wallet: 1, revision: 10 * at } })
    if (at % 4 === 3) steps.push({ kind: 'amend', wallet: 2 })
  }
  return steps
}

/** The books of a worker, and the steps that it takes. */
function aWorker(store: Store, limits: RefoldLimits, withdrawn: Set<number>) {
  const metrics = createFoldMetrics(createRegistry())
  const books = new WalletBooks({ store, metrics, now: () => 0, limits })
  const flush = (
    records: readonly WalletRecord[],
    late: LateOrigin | null,
    refolds: readonly RefoldRequest[] = [],
  ) =>
    storeRecords(store, books, {
      records: records.map((record) => ({
        record,
        late,
        decoderVersion: DECODER_VERSION,
        mark: null,
      })),
      refolds,
      prices: [],
      relationOf: () => 'unknown',
      isReplayed: () => false,
      withdrawn,
    })
  const place = { epoch: 1, partition: 0, offset: 0 }
  return {
    books,
    async take(step: Step): Promise<void> {
      if (step.kind === 'flush') await flush(step.records, step.late)
      else if (step.kind === 'refold') await flush([], null, [step.refold])
      else if (step.kind === 'amend') await books.amend([step.wallet], async () => {})
      else {
        const { withdrawal, at } = step
        withdrawn.add(withdrawal.slot)
        const placed = { ...withdrawal, ...place, passedSlot: at }
        await withdrawSlots(store, books, [placed], { partitions: 1, isReplayed: false })
      }
    },
    /** Runs at most `count` slices, and returns how many there were. */
    async slices(count = Number.POSITIVE_INFINITY): Promise<number> {
      let done = 0
      for (; done < count && books.background.isDue(); done += 1) await books.background.runSlice()
      return done
    },
  }
}

/** Takes every step, with some slices after each, then the slices that are left. */
async function takeAll(store: Store, steps: readonly Step[], limits: RefoldLimits, pace: number) {
  const worker = aWorker(store, limits, await readWithdrawnSlots(store))
  await worker.books.recover(() => true)
  let busy = 0
  for (const [at, step] of steps.entries()) {
    if (worker.books.background.isDue()) busy += 1
    await worker.take(step)
    await worker.slices((at * 7 + pace) % 4)
  }
  await worker.slices()
  await worker.books.save()
  return busy
}

test.serial(
  'late events, withdrawals, requests and changes during a refold in the background end with the tables of refolds at once (rule J16)',
  async (t) => {
    const { store } = opened
    for (let seed = 1; seed <= 2; seed += 1) {
      const steps = stepsOf(seed, 12)
      await start(store)
      t.is(await takeAll(store, steps, REFOLD_LIMITS, 0), 0)
      const expected = await dump(store)
      await start(store)
      const busy = await takeAll(store, steps, SMALL, seed)
      t.true(busy > 8, `${busy} steps during a refold`)
      t.deepEqual(await dump(store), expected, `seed ${seed}`)
    }
  },
)

test.serial(
  'events in order and late ones that are stored after any slice of a refold are in the new books (rule J16)',
  async (t) => {
    const { store } = opened
    const { slots } = aChain({ seed: 3, slots: 16, wallets: 1 })
    const busy = slots.filter(({ records }) => records.some((record) => 'eventIndex' in record))
    const flush = (some: typeof slots, late: LateOrigin | null): Step => ({
      kind: 'flush',
      records: some.flatMap(({ records }) => records),
      late,
    })
    for (const [name, before, after] of [
      ['in order', busy.slice(0, -1), flush(busy.slice(-1), null)],
      ['late', busy.slice(1), flush(busy.slice(0, 1), 'stream')],
    ] as const) {
      let slices = 1
      let expected: Awaited<ReturnType<typeof dump>> | null = null
      for (let cut = 0; cut <= slices; cut += 1) {
        await start(store)
        const worker = aWorker(store, SMALL, new Set())
        await worker.take(flush(before, null))
        await worker.take({ kind: 'refold', refold: { wallet: 1, revision: 7 } })
        await worker.slices(cut)
        // The first turn counts the slices.
        if (cut === 0) slices = await worker.slices()
        await worker.take(after)
        await worker.slices()
        const found = await dump(store)
        if (expected === null) {
          await store.command('TRUNCATE TABLE fold_snapshots')
          const other = aWorker(store, REFOLD_LIMITS, new Set())
          await other.take({ kind: 'refold', refold: { wallet: 1, revision: 70 } })
          expected = await dump(store)
        }
        t.deepEqual(found, expected, `${name}, after ${cut} of ${slices} slices`)
      }
      t.true(slices > 8, `${slices} slices`)
    }
  },
)

test.serial(
  'killed before a write of any kind during a refold in the background and started again, a worker makes the same tables (rules J16, K1)',
  async (t) => {
    const { store } = opened
    const steps = stepsOf(5, 5)
    await start(store)
    const life = dyingStore(store, Number.POSITIVE_INFINITY)
    await takeAll(life.store, steps, SMALL, 1)
    const expected = await dump(store)
    const kinds = life.writes
    const points = kinds.flatMap((kind, at) => (kinds.indexOf(kind) === at ? [at + 1] : []))
    t.true(points.length > 10)
    for (const n of points) {
      await start(store)
      await t.throwsAsync(takeAll(dyingStore(store, n).store, steps, SMALL, 1), { code: 'closed' })
      await takeAll(store, steps, SMALL, 2)
      t.deepEqual(await dump(store), expected, `killed instead of write ${n}: ${kinds[n - 1]}`)
    }
    t.log(`${points.length} points of ${kinds.length}`)
  },
)

/** Stores swaps `from` to `to` of wallet 1 without a worker, each in a slot of its own. */
async function storeSwaps(store: Store, from: number, to: number): Promise<void> {
  await store.command(
    `INSERT INTO swaps (slot, tx_index, wallet, event_index, block_time, signature, side, base_mint, base_amount, base_decimals, quote_mint, quote_amount, program, program_id, confidence, quote_mismatch, fee_lamports, value_lamports)
     SELECT 1000 + n, 0, 1, 0, 1600000000 + n, 's', if(n % 5 < 3, 'buy', 'sell'), concat('m', toString(n % 3)), 1000 + n % 7, 6, NULL, n, 'p', 'p', 'high', 0, 0, n FROM (SELECT ${from} + number AS n FROM numbers(${to - from}))`,
  )
}

/** The figures that are served of wallet 1. */
async function figures(store: Store): Promise<string> {
  const [metrics, positions] = await Promise.all([
    store.query('SELECT * EXCEPT(version) FROM wallet_metrics FINAL WHERE wallet = 1'),
    store.query(
      `SELECT * EXCEPT(version, inserted_at) FROM positions FINAL WHERE wallet = 1 ORDER BY mint`,
    ),
  ])
  return JSON.stringify({ metrics, positions })
}

test.serial(
  'while a wallet is refolded in the background, slots are stored and its former figures are served to the end (rule J16)',
  async (t) => {
    const { store } = opened
    await start(store)
    await storeSwaps(store, 0, 400)
    let onQuery = (_sql: string) => {}
    let onProgress = async () => {}
    const watched: Store = {
      ...store,
      async query(sql, params) {
        onQuery(sql)
        return store.query(sql, params)
      },
      async insert(table, rows, options) {
        await store.insert(table, rows, options)
        if (table === 'progress') await onProgress()
      },
    }
    const log = createMemoryLog({ logger, registry: createRegistry() }, { partitions: 3 })
    const fold = await startFold({
      store: watched,
      log,
      logger,
      registry: createRegistry(),
      windowMs: 1,
      refoldLimits: { rowsPerFlush: 400, rowsPerSlice: 10 },
      onBug: (error) => t.fail(String(error)),
    })
    const signal = new AbortController().signal
    let slot = 2000
    const refold = async () => {
      const targets = await requestRefolds({ store, log }, [1])
      await log.appendSlot({ marker: aMarker(slot), records: [] })
      await log.settled('fold', signal)
      return targets
    }
    await refold()
    const before = await figures(store)
    t.regex(before, /"events":"400"/)

    await storeSwaps(store, 400, 450)
    let pages = 0
    // Every fifth page of the refold another slot is appended.
    onQuery = (sql) => {
      if (!sql.endsWith('LIMIT 10')) return
      pages += 1
      if (pages % 5 !== 0) return
      slot += 1
      void log.appendSlot({ marker: aMarker(slot), records: [] })
    }
    const seen: { readonly marker: number; readonly figures: string }[] = []
    onProgress = async () => {
      const marker = (await readStorageMarker(store))?.slot ?? 0
      if (pages < 45) seen.push({ marker, figures: await figures(store) })
    }
    await refold()
    await waitUntilFolded({ store, log }, [1], signal)
    await fold.stop()
    await log.close()
    t.is(pages, 46) // the last one has no row
    t.deepEqual([...new Set(seen.map(({ figures }) => figures))], [before])
    t.true(new Set(seen.map(({ marker }) => marker)).size >= 6, `${seen.length} flushes`)
    t.regex(await figures(store), /"events":"450"/)
  },
)
