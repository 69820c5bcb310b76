import { cpSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import test from 'ava'
import { addressFromBytes } from '../../domain/address.ts'
import { DECODER_VERSION } from '../../domain/decoder-version.ts'
import { ServiceError } from '../../domain/service-error.ts'
import type { WalletRecord } from '../../domain/slot.ts'
import type { BatchHandler, EventLog, LogRecord, PartitionLease } from '../../log/log.ts'
import type { LogMessage } from '../../log/log-message.ts'
import { createMemoryStateLog } from '../../log/memory-state-log.ts'
import type { StateLog } from '../../log/state-log.ts'
import { partitionOf } from '../../log/topics.ts'
import { createLogger } from '../../runtime/logger.ts'
import { createRegistry } from '../../runtime/telemetry.ts'
import { migrate } from '../../store/migrate.ts'
import { SQL_FOLDER } from '../../store/schema-files.ts'
import type { Store } from '../../store/store.ts'
import { addTrackedWallets } from '../../store/tables/tracked-wallets.ts'
import { aChain } from '../../testing/a-chain.ts'
import { noteBooksRead } from '../../testing/books-read.ts'
import { aForkedChain } from '../../testing/forked-chain.ts'
import { StateMirror } from '../../testing/state-mirror.ts'
import { TABLE_KEYS } from '../../testing/table-keys.ts'
import { emptyTables, openTestStore, type TestStore } from '../../testing/test-store.ts'
import { REFOLD_LIMITS, type RefoldLimits } from './background-refolds.ts'
import { startFold } from './fold.ts'
import { adoptSalt } from './privacy-salt.ts'

const logger = createLogger('silent')
const PARTITIONS = 2
const addresses = [1, 2, 3, 4].map((n) => addressFromBytes(new Uint8Array(32).fill(n)))

let opened: TestStore
let states: StateLog
/** What a reader of the log of states has of the tables (rule K26). `dump` checks it. */
let mirror: StateMirror
test.before(async () => {
  opened = await openTestStore()
  await migrate(opened.store)
})
test.after.always(() => opened.remove())

type Entries = readonly (readonly LogRecord[])[]

/** The entries of each partition for a chain with late records, withdrawals and a refold. */
function entriesOf(seed: number): Entries {
  const { seen, forks } = aForkedChain({
    seed,
    slots: 9,
    wallets: addresses.length,
    lateShare: 0.3,
  })
  const partitions: LogRecord[][] = Array.from({ length: PARTITIONS }, () => [])
  const push = (partition: number, message: LogMessage) => {
    const records = partitions[partition] ?? []
    records.push({ offset: BigInt(records.length), ...message })
  }
  const everywhere = (message: LogMessage) => {
    for (let partition = 0; partition < PARTITIONS; partition += 1) push(partition, message)
  }
  const decoderVersion = DECODER_VERSION
  for (const [at, { marker, records }] of seen.slots.entries()) {
    for (const record of records)
      push(partitionOf(record.wallet, PARTITIONS), {
        kind: 'record',
        record,
        late: null,
        decoderVersion,
      })
    everywhere({ kind: 'marker', marker })
    const late = seen.late.filter(({ afterSlots }) => afterSlots === at)
    const forked = forks.filter(({ afterSlots }) => afterSlots === at)
    for (const { withdrawal } of forked) everywhere({ kind: 'withdrawal', withdrawal })
    for (const { records } of [...late, ...forked.map(({ final }) => ({ records: final }))])
      for (const record of records)
        push(partitionOf(record.wallet, PARTITIONS), {
          kind: 'record',
          record,
          late: 'stream',
          decoderVersion,
        })
    if (at === 4) push(0, { kind: 'refold', refold: { wallet: 1, revision: 1 } })
  }
  const last = seen.slots.at(-1)?.marker
  if (last)
    everywhere({ kind: 'marker', marker: { ...last, slot: last.slot + 1, parent: last.slot } })
  return partitions
}

/** A fold worker in a group of which the test assigns the partitions. */
async function startMember(
  store: Store,
  entries: Entries,
  generation: number,
  refoldLimits?: RefoldLimits,
) {
  let isEvicted = false
  const starts = new Map<number, bigint>()
  let handler: BatchHandler = async () => {}
  const confirm = async () => {
    if (isEvicted) throw new ServiceError('fenced', 'the partitions have another owner')
  }
  const assignment = (number: number): PartitionLease => ({
    partitions: entries.map((_, partition) => partition),
    generation: async () => number,
    confirm,
  })
  /** Assigns all partitions to the worker, in a generation of the group. */
  let assign = async (_generation: number) => {}
  const log: Partial<EventLog> = {
    partitions: entries.length,
    states,
    epoch: 0,
    extent: async () => ({
      id: 'a topic',
      partitions: new Map(
        entries.map((records, partition) => [partition, { low: 0n, end: BigInt(records.length) }]),
      ),
    }),
    async consume(options, given) {
      handler = given
      if (options.mode !== 'shared') throw new Error('a worker reads as a group')
      assign = async (number) => {
        for (const [partition, offset] of (await options.onAssigned?.(assignment(number))) ?? [])
          starts.set(partition, offset)
      }
      await assign(generation)
      return { close: async () => {} }
    },
  }
  const bugs: unknown[] = []
  const fold = await startFold({
    store,
    log: log as EventLog, // a worker uses no more of it
    logger,
    registry: createRegistry(),
    now: () => 0,
    windowMs: 1,
    ...(refoldLimits && { refoldLimits }),
    onBug: (error) => bugs.push(error),
  })
  return {
    fold,
    bugs,
    assign: (number: number) => assign(number),
    evict() {
      isEvicted = true
    },
    /** Delivers the entries up to an offset, so many at a time. Rejects as the worker does. */
    async deliver(size: number, end = Number.POSITIVE_INFINITY): Promise<void> {
      await Promise.all(
        entries.map(async (all, partition) => {
          let next = Number(starts.get(partition) ?? 0)
          while (next < Math.min(end, all.length)) {
            const records = all.slice(next, Math.min(next + size, end))
            await handler({ partition, records })
            next += records.length
            starts.set(partition, BigInt(next))
          }
        }),
      )
    },
  }
}

/** A store that holds back one write until `release`: the first of which `isHeld`. */
function holdingStore(store: Store, isHeld: (what: string, count: number) => boolean) {
  let hasHeld = false
  const writes: string[] = []
  let hold: () => void = () => {}
  const held = new Promise<void>((resolve) => {
    hold = resolve
  })
  let release: () => void = () => {}
  const released = new Promise<void>((resolve) => {
    release = resolve
  })
  const write = async (what: string) => {
    writes.push(what)
    if (hasHeld || !isHeld(what, writes.length)) return
    hasHeld = true
    hold()
    await released
  }
  const holding: Store = {
    ...store,
    async insert(table, rows, options) {
      if (rows.length > 0) await write(table)
      await store.insert(table, rows, options)
    },
    async command(sql, params) {
      await write(sql.slice(0, sql.indexOf('(')).trim().slice(0, 40))
      await store.command(sql, params)
    },
  }
  return { holding, writes, held, release: () => release() }
}

async function start(store: Store): Promise<void> {
  states = createMemoryStateLog(PARTITIONS)
  mirror = new StateMirror()
  await mirror.follow(states)
  await emptyTables(store)
  await addTrackedWallets(store, addresses, [], 1)
}

/** Columns that depend on who wrote a row, and when, or that only a newer version knows. */
const APART = 'version|revision|is_deleted|inserted_at|computed_at|newer_column'

type Tables = Record<string, unknown[]>

async function dump(store: Store): Promise<Tables> {
  await mirror.check(store)
  const tables: Record<string, unknown[]> = {}
  for (const [table, key] of Object.entries(TABLE_KEYS)) {
    const isVoid = ['sol_balances', 'token_links', 'transactions'].includes(table)
      ? 'WHERE is_deleted = 0'
      : table === 'sol_prices'
        ? 'WHERE usd_e9 > 0'
        : ''
    tables[table] = await store.query(
      `SELECT * EXCEPT('^(${APART})$') FROM ${table} FINAL ${isVoid} ORDER BY ${key}`,
    )
  }
  tables.progress = await store.query(
    'SELECT partition, complete_slot, next_offset FROM progress FINAL ORDER BY partition',
  )
  return tables
}

/** The tables that one worker makes of these entries, which nobody evicts. */
async function foldedAlone(
  entries: Entries,
  batch: number,
): Promise<Awaited<ReturnType<typeof dump>>> {
  const { store } = opened
  await start(store)
  const alone = await startMember(store, entries, 1)
  await alone.deliver(batch)
  await alone.fold.stop()
  return dump(store)
}

test.serial(
  'a write of an evicted worker that arrives after the next owner has begun changes no table (rule K15)',
  async (t) => {
    const { store } = opened
    const entries = entriesOf(3)
    const expected = await foldedAlone(entries, 7)

    const life = holdingStore(store, () => false)
    await start(store)
    const whole = await startMember(life.holding, entries, 1)
    await whole.deliver(9)
    await whole.fold.stop()
    const kinds = life.writes
    // `sol_prices` has no version: a price that was under way comes back after its withdrawal.
    const points = kinds.flatMap((kind, at) =>
      kinds.indexOf(kind) === at && kind !== 'sol_prices' ? [at + 1] : [],
    )
    const wrong: string[] = []
    for (const [at, n] of points.entries()) {
      await start(store)
      const { holding, writes, held, release } = holdingStore(store, (_, count) => count === n)
      const first = await startMember(holding, entries, 5)
      const failed = first.deliver(9).catch(() => {})
      await held
      first.evict()
      const second = await startMember(store, entries, 6)
      await second.deliver(7, 14)
      if (at % 2 === 0) release()
      await second.deliver(7)
      release()
      await failed
      await first.fold.stop(0)
      await second.fold.stop()
      t.deepEqual([first.bugs, second.bugs], [[], []])
      const found = await dump(store)
      for (const table of Object.keys(expected))
        if (JSON.stringify(found[table]) !== JSON.stringify(expected[table]))
          wrong.push(`${table}: write ${n}, ${writes[n - 1]}`)
    }
    t.log(`${points.length} points of ${kinds.length}`)
    t.deepEqual(wrong, [])
  },
)

/**
 * Two slots of a wallet, then a late one, then others. `before` and `after`: offsets around it;
 * `middle`: the offset between the first two.
 */
function withLateSlot(): { entries: Entries; middle: number; before: number; after: number } {
  const { slots } = aChain({ seed: 2, slots: 14, wallets: 1, lateShare: 0 })
  const logged = (late: 'stream' | null) => (record: WalletRecord) =>
    ({ kind: 'record', record, late, decoderVersion: DECODER_VERSION }) as const
  const [late, second, third, ...others] = slots.filter(({ records }) => records.length > 3)
  if (!late || !second || !third) throw new Error('the chain has three such slots')
  const messages: LogMessage[] = [second, third].flatMap(({ records, marker }) => [
    ...records.map(logged(null)),
    { kind: 'marker', marker } as const,
  ])
  const middle = second.records.length + 1
  const before = messages.length
  messages.push(...late.records.map(logged('stream')))
  const after = messages.length
  for (const { records, marker } of others)
    messages.push(...records.map(logged(null)), { kind: 'marker', marker })
  const entries = [messages.map((message, at) => ({ offset: BigInt(at), ...message }))]
  return { entries, middle, before, after }
}

test.serial(
  'a worker that does not know that it was evicted folds a wallet again, and the next owner keeps the last word (rule K15)',
  async (t) => {
    const { store } = opened
    const { entries, before, after } = withLateSlot()
    const expected = await foldedAlone(entries, 1000)

    await start(store)
    const first = await startMember(store, entries, 5)
    const { holding, held, release } = holdingStore(store, (what) => what === 'swaps')
    const next = await startMember(holding, entries, 6)
    const isDone = next.deliver(1000)
    await held // it has read that nothing is stored, so no event is late for it
    await first.deliver(before, before)
    await first.deliver(1000, after)
    release()
    await isDone
    t.deepEqual([first.bugs, next.bugs], [[], []])
    t.deepEqual(await dump(store), expected)
  },
)

test.serial(
  'late events of an evicted worker that are stored after the next owner has read the wallet are in its books (rule K15)',
  async (t) => {
    const { store } = opened
    const { entries, before, after } = withLateSlot()
    const expected = await foldedAlone(entries, 1000)

    await start(store)
    let isArmed = false
    const { holding, held, release } = holdingStore(store, (what) => isArmed && what === 'swaps')
    const first = await startMember(holding, entries, 5)
    await first.deliver(before, before)
    isArmed = true
    const failed = first.deliver(1000, after).catch(() => {})
    await held
    first.evict()
    const next = await startMember(store, entries, 6)
    await next.deliver(1, before + 1)
    release()
    await failed
    await next.deliver(1000)
    t.deepEqual([first.bugs, next.bugs], [[], []])
    t.deepEqual(await dump(store), expected)
  },
)

test.serial(
  'late events of an evicted worker that are stored after the next owner has saved the wallet are in the books of the owner after it (rule K15)',
  async (t) => {
    const { store } = opened
    const { entries, middle, before, after } = withLateSlot()
    const expected = await foldedAlone(entries, 1000)

    await start(store)
    let isArmed = false
    const { holding, held, release } = holdingStore(store, (what) => isArmed && what === 'swaps')
    const first = await startMember(holding, entries, 5)
    await first.deliver(middle, middle)
    isArmed = true
    const failed = first.deliver(1000, after).catch(() => {})
    await held
    first.evict()
    const next = await startMember(store, entries, 6)
    await next.deliver(1000, before)
    await next.fold.stop() // it saves the wallet, beyond the place of the late events
    release()
    await failed
    await first.fold.stop(0)
    const last = await startMember(store, entries, 7)
    await last.deliver(1000)
    t.deepEqual([first.bugs, next.bugs, last.bugs], [[], [], []])
    t.deepEqual(await dump(store), expected)
    await last.fold.stop()
  },
)

test.serial(
  'a worker that keeps its partitions reads no books again, one that missed a generation reads all of them (rule K23)',
  async (t) => {
    const { store } = opened
    const entries = entriesOf(3)
    const expected = await foldedAlone(entries, 7)
    for (const [generation, isKept] of [
      [6, true],
      [7, false],
    ] as const) {
      await start(store)
      const { noting, read } = noteBooksRead(store)
      const worker = await startMember(noting, entries, 5)
      await worker.deliver(9, 27)
      const before = new Set(read.splice(0))
      await worker.assign(generation)
      await worker.deliver(9)
      const again = read.filter((wallet) => before.has(wallet))
      t.is(before.size, addresses.length)
      t.deepEqual([again.length > 0, worker.bugs], [!isKept, []], `generation ${generation}`)
      t.deepEqual(await dump(store), expected)
      await worker.fold.stop()
    }
  },
)

/** Doubles the amounts of the swaps of wallets. */
const doubleSwaps = (wallets: readonly number[], store: Store) =>
  store.command(
    `INSERT INTO swaps (* EXCEPT(inserted_at))
     SELECT * EXCEPT(inserted_at) REPLACE(2 * base_amount AS base_amount, version + 1 AS version)
     FROM swaps FINAL WHERE wallet IN {wallets:Array(UInt32)} AND is_deleted = 0`,
    { wallets },
  )

test.serial(
  'events that change while partitions are assigned give rows with the token of the new assignment (rule K15)',
  async (t) => {
    const { store } = opened
    const { entries, after } = withLateSlot()
    await start(store)
    let hold: (() => void) | undefined
    let release: () => void = () => {}
    const released = new Promise<void>((resolve) => {
      release = resolve
    })
    const holding: Store = {
      ...store,
      async query(sql, params, columns) {
        if (hold !== undefined && sql.includes('FROM progress FINAL')) {
          hold()
          await released
        }
        return store.query(sql, params, columns)
      },
    }
    const worker = await startMember(holding, entries, 5)
    await worker.deliver(1000, after)
    const held = new Promise<void>((resolve) => {
      hold = resolve
    })
    const assigned = worker.assign(6)
    await held
    const amended = worker.fold.amend([1], doubleSwaps)
    release()
    await Promise.all([assigned, amended])
    t.deepEqual(
      await store.query(
        'SELECT toUInt32(intDiv(version, 4398046511104)) AS token FROM wallet_metrics FINAL WHERE wallet = 1',
      ),
      [{ token: 6 }],
    )
    await worker.fold.stop()
    t.deepEqual(worker.bugs, [])
  },
)

test.serial(
  'what another owner did while a worker was evicted is in the books of the worker (rule K23)',
  async (t) => {
    const { store } = opened
    const { entries, after } = withLateSlot()
    const change = async (member: Awaited<ReturnType<typeof startMember>>) =>
      member.fold.amend([1], doubleSwaps)
    await start(store)
    const alone = await startMember(store, entries, 1)
    await alone.deliver(1000, after)
    await change(alone)
    await alone.deliver(1000)
    await alone.fold.stop()
    const expected = await dump(store)

    await start(store)
    const worker = await startMember(store, entries, 5)
    await worker.deliver(1000, after)
    const other = await startMember(store, entries, 6)
    await change(other)
    other.evict()
    await worker.assign(7)
    await worker.deliver(1000)
    await worker.fold.stop()
    t.deepEqual([worker.bugs, other.bugs], [[], []])
    t.deepEqual(await dump(store), expected)
  },
)

/** The tables that the fold derives. */
function booksOf({ lots, disposals, positions, first_buys, wallet_metrics }: Tables): Tables {
  return { lots, disposals, positions, first_buys, wallet_metrics } as Tables // all are there
}

/** Number of wallets that wait to be folded again. */
async function countMarks(store: Store): Promise<number> {
  const marks = await store.query('SELECT wallet FROM fold_snapshots FINAL WHERE format = 0')
  return marks.length
}

test.serial(
  'a wallet whose refold is deferred, or runs in the background, is folded again after a rebalance (rule K23)',
  async (t) => {
    const { store } = opened
    const { entries, before, after } = withLateSlot()
    const fetched = entries.map((all) =>
      all.map((entry) =>
        entry.kind === 'record' && entry.late !== null
          ? { ...entry, late: 'backfill' as const }
          : entry,
      ),
    )
    const expected = booksOf(await foldedAlone(entries, 1000))
    for (const [how, given, limits] of [
      ['deferred', fetched, REFOLD_LIMITS],
      ['in the background', entries, { rowsPerFlush: 1, rowsPerSlice: 1 }],
    ] as const) {
      await start(store)
      const worker = await startMember(store, given, 5, limits)
      await worker.deliver(before, before)
      await worker.deliver(1000, after)
      t.is(await countMarks(store), 1, how)
      await worker.assign(6)
      await worker.deliver(1000)
      while ((await countMarks(store)) > 0) await worker.fold.between(async () => {})
      t.deepEqual([worker.bugs, booksOf(await dump(store))], [[], expected], how)
      await worker.fold.stop()
    }
  },
)

test.serial(
  'a wallet that another process has marked is folded again by the worker that keeps it (rule K23)',
  async (t) => {
    const { store } = opened
    const { entries, before } = withLateSlot()
    const expected = await foldedAlone(entries, 1000)

    await start(store)
    const worker = await startMember(store, entries, 5)
    await worker.deliver(before, before)
    await adoptSalt(store, 'the salt of another process')
    t.is(await countMarks(store), 1)
    await worker.assign(6)
    await worker.deliver(1000)
    t.deepEqual([worker.bugs, await countMarks(store)], [[], 0])
    t.deepEqual(await dump(store), expected)
    await worker.fold.stop()
  },
)

/** Applies the schema of a newer version: each table has one more column, which is the first. */
async function applyNewerSchema(store: Store): Promise<readonly string[]> {
  const tables = await store.query<{ name: string }>(
    "SELECT name FROM system.tables WHERE database = currentDatabase() AND engine LIKE '%MergeTree' ORDER BY name LIMIT 1000",
  )
  const statements = tables.map(
    ({ name }) =>
      `ALTER TABLE ${name} ADD COLUMN IF NOT EXISTS newer_column String DEFAULT 'not known' FIRST;\n`,
  )
  const folder = mkdtempSync(join(tmpdir(), 'test-sql-'))
  try {
    cpSync(SQL_FOLDER, folder, { recursive: true })
    const text = `-- compatible: adds columns\n${statements.join('')}`
    writeFileSync(join(folder, '9999_newer.sql'), text)
    return await migrate(store, folder)
  } finally {
    rmSync(folder, { recursive: true })
  }
}

test.serial(
  'a worker goes on while a newer version adds a column to every table, and so does one that starts then (rule K19)',
  async (t) => {
    const { store } = opened
    const entries = entriesOf(3)
    const expected = await foldedAlone(entries, 7)

    await start(store)
    await migrate(store) // which `start` has emptied
    const running = await startMember(store, entries, 2)
    await running.deliver(9, 18)
    t.deepEqual(await applyNewerSchema(store), ['9999_newer.sql'])
    await running.deliver(9, 36)
    await running.fold.stop()
    t.deepEqual(await migrate(store), [])
    const restarted = await startMember(store, entries, 3)
    await restarted.deliver(7)
    await restarted.fold.stop()
    t.deepEqual([running.bugs, restarted.bugs], [[], []])
    t.deepEqual(await dump(store), expected)
    const [added] = await store.query(
      "SELECT count() > 40 AS found FROM system.columns WHERE database = currentDatabase() AND name = 'newer_column'",
    )
    t.deepEqual(added, { found: 1 })
  },
)
