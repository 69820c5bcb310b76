import test from 'ava'
import { ServiceError } from '../../domain/service-error.ts'
import type { EventLog } from '../../log/log.ts'
import { createMemoryLog } from '../../log/memory.ts'
import { createLogger } from '../../runtime/logger.ts'
import { createRegistry } from '../../runtime/telemetry.ts'
import { migrate } from '../../store/migrate.ts'
import type { Store } from '../../store/store.ts'
import { createBackfillJobs, newJob } from '../../store/tables/backfills.ts'
import { readProgress, readStorageMarker } from '../../store/tables/progress.ts'
import { readGaps } from '../../store/tables/slot-gaps.ts'
import { addTrackedWallets } from '../../store/tables/tracked-wallets.ts'
import { createWalletCoverage } from '../../store/tables/wallet-coverage.ts'
import { aMarker } from '../../testing/a-marker.ts'
import { emptyTables, openTestStore, type TestStore } from '../../testing/test-store.ts'
import { startFold } from './fold.ts'

/*
 * What becomes of storage when the log lacks entries that follow the stored ones (rule K10). The
 * log in memory stands for Kafka: it outlives the workers, and its identity is set by the test.
 */

const logger = createLogger('silent')
// Addresses are opaque here.
const WALLETS = ['1', '2', '3'].map((digit) => digit.repeat(43)) as never[]
const PARTITIONS = 2
/** Unix milliseconds. */
const APPENDED = 1_700_000_000_000

let opened: TestStore
test.before(async () => {
  opened = await openTestStore()
  await migrate(opened.store)
})
test.after.always(() => opened.remove())

test.beforeEach(async () => {
  const { store } = opened
  await emptyTables(store)
  await addTrackedWallets(store, WALLETS, [], 1_700_000_000)
})

/** A topic of this id. Offsets of a partition below its `lows` have expired. */
function aTopic(
  id: string,
  lows: ReadonlyMap<number, bigint> = new Map(),
  now: () => number = () => APPENDED,
): EventLog {
  const log = createMemoryLog(
    { logger, registry: createRegistry() },
    { partitions: PARTITIONS, epoch: 0, retryDelayMs: 1, now },
  )
  const extent = log.extent.bind(log)
  log.extent = async (times) => {
    const { partitions } = await extent(times)
    const ranges = [...partitions].map(
      ([at, range]) => [at, { ...range, low: lows.get(at) ?? range.low }] as const,
    )
    return { id, partitions: new Map(ranges) }
  }
  return log
}

const marker = (slot: number, parent = slot - 1) => ({
  ...aMarker(slot, parent),
  blockTime: 1_700_000_000 + slot,
})
const balance = (slot: number, wallet: number) => ({
  kind: 'balance' as const,
  slot,
  txIndex: 0,
  wallet,
  blockTime: 1_700_000_000 + slot,
  lamports: BigInt(slot),
  lamportsBefore: null,
})

async function append(log: EventLog, from: number, to: number, parent = from - 1): Promise<void> {
  for (let slot = from; slot <= to; slot++)
    await log.appendSlot({
      marker: marker(slot, slot === from ? parent : slot - 1),
      records: WALLETS.map((_, at) => balance(slot, at + 1)),
    })
}

/** Runs a worker until `slot` is stored, or until it dies. */
async function work(
  log: EventLog,
  slot: number,
  store: Store = opened.store,
  isDead: () => boolean = () => false,
): Promise<void> {
  const onBug = () => {}
  const deps = { store, log, logger, registry: createRegistry(), windowMs: 1, now: () => 5e12 }
  const fold = await startFold({ ...deps, onBug })
  while (!isDead() && ((await readStorageMarker(opened.store))?.slot ?? 0) < slot)
    await fold.between(async () => {})
  await fold.stop()
}

/** What the tables say of holes, and the slots of stored balances of W1. */
async function found() {
  const { store } = opened
  const jobs = await createBackfillJobs(store).open(['gap'])
  const slots = await store.query<{ slot: string }>(
    'SELECT slot FROM sol_balances FINAL WHERE wallet = 1 ORDER BY slot',
  )
  return {
    jobs: jobs.map(({ wallet, range }) => [wallet, range.fromSlot, range.toSlot]),
    gaps: await readGaps(store, 0, 1e9),
    slots: slots.map(({ slot }) => Number(slot)),
  }
}

const NOTHING = { jobs: [], gaps: [] }

test.serial('workers that merely lag read on, and nothing is lost (rule K10)', async (t) => {
  const log = aTopic('a')
  await append(log, 1000, 1002)
  await work(log, 1002)
  await append(log, 1003, 1005)
  await work(log, 1005)
  t.deepEqual(await found(), { ...NOTHING, slots: [1000, 1001, 1002, 1003, 1004, 1005] })
  const positions = await readProgress(opened.store, 'fold')
  t.deepEqual(
    [0, 1].map((partition) => positions.get(partition)),
    [18n, 12n].map((nextOffset) => ({
      marker: marker(1005),
      highest: 1005,
      logId: 'a',
      nextOffset,
      logTime: APPENDED,
      fence: 0,
      generation: 0,
    })),
  )
})

test.serial(
  'another topic opens a backfill from 512 slots before the stored ones, but no more than was covered, to its first slot (rule K10)',
  async (t) => {
    const log = aTopic('a')
    await append(log, 1000, 1002)
    await work(log, 1002)
    await append(log, 1003, 1005) // never read
    // A backfill of W2 had fetched everything from slot 40 on; its pages may be lost.
    const range = { fromSlot: 10, toSlot: 900 }
    const running = { ...newJob(2, 'operator', range, 1), position: { slot: 40, signature: 's' } }
    await createBackfillJobs(opened.store).save([running])
    await createWalletCoverage(opened.store).begin([3], { slot: 800, time: 1 })

    const other = aTopic('b')
    await append(other, 1010, 1012)
    await work(other, 1012)
    const expected = {
      jobs: [
        [1, 491, 1009],
        [2, 40, 1009],
        [3, 800, 1009],
      ],
      gaps: [{ fromSlot: 1002, toSlot: 1009 }],
      slots: [1000, 1001, 1002, 1010, 1011, 1012],
    }
    t.deepEqual(await found(), expected)
    await append(other, 1013, 1013)
    await work(other, 1013)
    t.deepEqual(await found(), { ...expected, slots: [...expected.slots, 1013] })
  },
)

test.serial(
  'a topic that was restored from an older copy lacks entries, although it has grown beyond the stored offsets (rule K10)',
  async (t) => {
    const log = aTopic('a')
    await append(log, 1000, 1004)
    await log.appendLate([balance(999, 1)], 'stream')
    await work(log, 1004)

    let now = APPENDED
    const older = aTopic('a', new Map(), () => now)
    await append(older, 1000, 1002) // the copy
    now += 1
    await append(older, 1008, 1012)
    await work(older, 1012)
    t.deepEqual(await found(), {
      jobs: [
        [1, 493, 1007],
        [2, 493, 1007],
        [3, 493, 1007],
      ],
      gaps: [{ fromSlot: 1004, toSlot: 1007 }],
      slots: [999, 1000, 1001, 1002, 1003, 1004, 1008, 1009, 1010, 1011, 1012],
    })
  },
)

test.serial(
  'expired offsets open a backfill, although the slots on the log are without a gap (rule K10)',
  async (t) => {
    const lows = new Map<number, bigint>()
    const log = aTopic('a', lows)
    await append(log, 1000, 1002)
    await work(log, 1002)
    await log.appendLate([balance(999, 1)], 'stream')
    lows.set(0, 10n) // the late record, the tenth entry beside W1 and W3, expires unread
    await append(log, 1003, 1004)
    await work(log, 1004)
    t.deepEqual(await found(), {
      jobs: [
        [1, 491, 1002],
        [3, 491, 1002],
      ],
      gaps: [],
      slots: [1000, 1001, 1002, 1003, 1004],
    })
  },
)

test.serial(
  'storage restored from an older copy is filled again from the log, although the group has read it (rule K10)',
  async (t) => {
    const { store } = opened
    const log = aTopic('a')
    await append(log, 1000, 1002)
    await work(log, 1002)
    const copy = await store.query<Record<string, unknown>>('SELECT * FROM progress FINAL')
    await append(log, 1003, 1005)
    await work(log, 1005)
    // The copy was made at slot 1002.
    await store.command('TRUNCATE TABLE progress')
    await store.command('TRUNCATE TABLE fold_snapshots')
    await store.command('TRUNCATE TABLE sol_balances')
    await store.insert('progress', copy)
    const rows = [1000, 1001, 1002].flatMap((slot) => [1, 2, 3].map((w) => balance(slot, w)))
    await store.insert(
      'sol_balances',
      rows.map(({ slot, txIndex, wallet, blockTime, lamports }) => ({
        slot,
        tx_index: txIndex,
        wallet,
        block_time: blockTime,
        lamports,
      })),
    )
    await work(log, 1005)
    t.deepEqual(await found(), { ...NOTHING, slots: [1000, 1001, 1002, 1003, 1004, 1005] })
  },
)

test.serial('empty storage is filled from the oldest entry of the log (rule K10)', async (t) => {
  const { store } = opened
  const log = aTopic('a')
  await append(log, 1000, 1002)
  await work(log, 1002)
  for (const table of ['progress', 'fold_snapshots', 'sol_balances'])
    await store.command(`TRUNCATE TABLE ${table}`)
  await append(log, 1003, 1003)
  await work(log, 1003)
  t.deepEqual(await found(), { ...NOTHING, slots: [1000, 1001, 1002, 1003] })
})

test.serial(
  'a worker that is killed before the first write to any table opens the same backfills (rules K1, K10)',
  async (t) => {
    const log = aTopic('a')
    await append(log, 1000, 1002)
    await work(log, 1002)
    const other = aTopic('b')
    await append(other, 1010, 1012)
    const diedBefore: string[] = []
    for (let isDead = true; isDead; ) {
      isDead = false
      const store: Store = {
        ...opened.store,
        insert: async (table, rows, options) => {
          if (!isDead && !diedBefore.includes(table)) {
            isDead = true
            diedBefore.push(table)
          }
          if (isDead) throw new ServiceError('closed', 'killed')
          await opened.store.insert(table, rows, options)
        },
      }
      await work(other, 1012, store, () => isDead)
    }
    t.deepEqual(diedBefore.sort(), [
      'backfills',
      'fold_snapshots',
      'progress',
      'sealed_slots',
      'slot_gaps',
      'sol_balances',
      'wallet_metrics',
    ])
    t.deepEqual(await found(), {
      jobs: [1, 2, 3].map((wallet) => [wallet, 491, 1009]),
      gaps: [{ fromSlot: 1002, toSlot: 1009 }],
      slots: [1000, 1001, 1002, 1010, 1011, 1012],
    })
  },
)
