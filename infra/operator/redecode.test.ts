import test from 'ava'
import { createDecoder, type Decoder } from '../../pipeline/decode/decoder.ts'
import { LabelTable } from '../../pipeline/decode/labels.ts'
import { createProgramRegistry, PROGRAMS, REGISTRY } from '../../pipeline/decode/registry.ts'
import { ServiceError } from '../../pipeline/domain/service-error.ts'
import type { DecodedRecord, SlotRecords } from '../../pipeline/domain/slot.ts'
import { createWallets, type Wallets } from '../../pipeline/domain/wallets.ts'
import type { createMintDecimals } from '../../pipeline/ingest/rpc/mint-decimals.ts'
import { createRefusals } from '../../pipeline/ingest/rpc/refusals.ts'
import { createRpc } from '../../pipeline/ingest/rpc/rpc.ts'
import { selectTracked } from '../../pipeline/ingest/select-tracked.ts'
import { createIngestMetrics } from '../../pipeline/ingest/telemetry.ts'
import { normalize } from '../../pipeline/ingest/wire/raw-transaction.ts'
import type { EventLog } from '../../pipeline/log/log.ts'
import { createMemoryLog } from '../../pipeline/log/memory.ts'
import { createLogger } from '../../pipeline/runtime/logger.ts'
import { createRegistry as createMetrics } from '../../pipeline/runtime/telemetry.ts'
import { migrate } from '../../pipeline/store/migrate.ts'
import type { Row, Store } from '../../pipeline/store/store.ts'
import { addTrackedWallets } from '../../pipeline/store/tables/tracked-wallets.ts'
import { insertTransactions } from '../../pipeline/store/tables/transactions.ts'
import { aTransaction } from '../../pipeline/testing/a-transaction.ts'
import { TABLE_KEYS } from '../../pipeline/testing/table-keys.ts'
import { emptyTables, openTestStore, type TestStore } from '../../pipeline/testing/test-store.ts'
import { startFold } from '../../pipeline/workers/fold/fold.ts'
import { decodeRecords } from '../../pipeline/workers/ingest/decode-records.ts'
import { startSimulator } from '../simulator/simulator.ts'
import type { Progress } from './progress.ts'
import { redecodeWallets } from './redecode.ts'

const logger = createLogger('silent')
const START = 405_000_000
const SLOTS = 40

let opened: TestStore
let chain: Awaited<ReturnType<typeof readChain>>
test.before(async () => {
  opened = await openTestStore()
  await migrate(opened.store)
  chain = await readChain()
})
test.after.always(() => opened.remove())

/** The tracked wallets of a simulated market, and their transactions by block. */
async function readChain() {
  const clock = { kind: 'manual', startSlot: START } as const
  const simulator = await startSimulator({ clock, wallets: 6, trackedPerSlot: 4, othersPerSlot: 0 })
  simulator.advance(SLOTS)
  const rpc = createRpc({ url: simulator.rpcUrl, metrics: createIngestMetrics(createMetrics()) })
  const wallets = createWallets(simulator.wallets)
  const blocks = []
  for (let slot = START; slot < simulator.confirmedSlot; slot++) {
    const block = await rpc.getBlock(slot)
    if (typeof block === 'string') continue
    const transactions = selectTracked(block, wallets).transactions.map(({ item }) =>
      aTransaction(normalize(item)),
    )
    blocks.push({ slot, parent: block.parent, blockTime: block.blockTime, transactions })
  }
  rpc.close()
  await simulator.close()
  return { addresses: simulator.wallets, wallets, blocks }
}

/** The records that ingest would append with this decoder. The SOL price changes every second. */
async function recordsOf(decoder: Decoder): Promise<SlotRecords[]> {
  const never = { load: async () => {}, of: () => undefined } satisfies ReturnType<
    typeof createMintDecimals
  >
  const metrics = createIngestMetrics(createMetrics())
  const refusals = createRefusals(0, { logger, metrics })
  const deps = { decimals: never, logger, refusals, stop: new AbortController().signal }
  return Promise.all(
    chain.blocks.map(async ({ transactions, ...block }) => {
      const solPrice = { time: block.blockTime, usdE9: priceAt(block.blockTime) }
      const found = await Promise.all(
        transactions.map((tx) => decodeRecords(decoder, tx, block.blockTime, deps)),
      )
      const records = found
        .flat()
        .map((record) =>
          record.kind === 'swap' && record.quoteMint !== null
            ? { ...record, solPriceUsdE9: solPrice.usdE9 }
            : record,
        )
      return { marker: { ...block, solPrice, blockId: null, finalized: null }, records }
    }),
  )
}

const priceAt = (time: number) => 150_000_000_000n + BigInt(time % 1000) * 1_000_000n

/**
 * A decoder with mistakes of every kind: unknown venues, wrong amounts, invented events, overlooked
 * wallets, undecoded transactions.
 */
function wrongDecoder(wallets: Wallets): Decoder {
  const known = PROGRAMS.filter(({ name }) => name !== 'pumpswap' && name !== 'orca_whirlpool')
  const decoder = createDecoder(wallets, createProgramRegistry(known))
  return {
    decode(tx, blockTime, decimalsOf) {
      const decoded = decoder.decode(tx, blockTime, decimalsOf)
      if (decoded.kind !== 'decoded') return decoded
      return { kind: 'decoded', records: decoded.records.flatMap((r) => mistake(r)) }
    },
  }
}

function mistake(record: DecodedRecord): DecodedRecord[] {
  const kind = (record.slot + record.txIndex) % 5
  if (!('eventIndex' in record)) {
    return kind === 4 && record.kind === 'balance'
      ? [{ ...record, lamports: record.lamports + 1n }]
      : [record]
  }
  const { slot, txIndex, wallet, blockTime, signature } = record
  const recordFields = { slot, txIndex, wallet, blockTime, signature }
  if (kind === 1)
    return [
      { kind: 'undecoded' as const, ...recordFields, programId: null, reason: 'unknown_mint' },
    ]
  if (kind === 2 && record.kind === 'swap')
    return [{ ...record, quoteMint: null, quoteAmount: 0n, quoteMismatch: true }]
  if (kind === 3)
    return [
      record,
      {
        kind: 'sol_transfer' as const,
        ...recordFields,
        eventIndex: 9,
        direction: 'in' as const,
        lamports: 7n,
      },
    ]
  return [record]
}

/**
 * Columns that a redecode may change: versions, times of writing, whether a row came late (rules
 * K4, C19).
 */
const APART = ['version', 'revision', 'is_deleted', 'inserted_at', 'late', 'computed_at', 'bytes']

async function dump(store: Store): Promise<Record<string, Row[]>> {
  const tables = Object.entries(TABLE_KEYS).map(async ([table, key]) => {
    const columns = await store.query<{ name: string }>(
      `SELECT name FROM system.columns WHERE database = currentDatabase() AND table = '${table}' AND default_kind != 'EPHEMERAL'`,
    )
    const names = columns.map(({ name }) => name).filter((name) => !APART.includes(name))
    if (table === 'transactions') names.push('hex(bytes)')
    return [
      table,
      await store.query<Row>(`SELECT ${names.join(', ')} FROM ${table} FINAL ORDER BY ${key}`),
    ]
  })
  return Object.fromEntries(await Promise.all(tables))
}

/** Empties the tables, folds these records, and runs `then` while the fold worker runs. */
async function stored(
  records: readonly SlotRecords[],
  then: (log: EventLog) => Promise<void> = async () => {},
): Promise<Record<string, Row[]>> {
  const { store } = opened
  await emptyTables(store)
  await addTrackedWallets(store, chain.addresses, [], 1)
  const log = createMemoryLog({ logger, registry: createMetrics() }, { retryDelayMs: 1 })
  let fail: (error: unknown) => void = () => {}
  const bug = new Promise<never>((_, reject) => {
    fail = reject
  })
  let tell: () => void = () => {}
  const fold = await startFold({
    store: {
      ...store,
      async insert(table, rows, options) {
        await store.insert(table, rows, options)
        if (table === 'progress') setImmediate(() => tell()) // once the worker knows it, too
      },
    },
    log,
    logger,
    registry: createMetrics(),
    onBug: fail,
    windowMs: 1,
  })
  try {
    for (const slot of records) await log.appendSlot(slot)
    while (fold.status().slot !== records.at(-1)?.marker.slot) {
      const stored = new Promise<void>((resolve) => {
        tell = resolve
      })
      await Promise.race([bug, stored])
    }
    await Promise.race([bug, then(log)])
    await fold.stop()
  } finally {
    await log.close()
  }
  return dump(store)
}

const parts = (store: Store, log: EventLog) => ({
  store,
  log: async () => log,
  names: { labels: new LabelTable([]), programs: REGISTRY },
  solPriceMaxAgeSeconds: 3600,
  salt: null,
  stop: new AbortController().signal,
})
const everybody = () => chain.addresses.map((_, at) => at + 1)
const nothing = { added: 0, changed: 0, removed: 0 }

test.serial(
  'redecode turns rows of a wrong decoder into those of the right one; the feed gets nothing (rule K4)',
  async (t) => {
    const { store } = opened
    const expected = await stored(await recordsOf(createDecoder(chain.wallets)))
    const wrong = await recordsOf(wrongDecoder(chain.wallets))
    const before = await stored(wrong, async (log) => {
      const followed: string[] = []
      await log.consume({ mode: 'follow', sinceMs: 0 }, async ({ records }) => {
        for (const entry of records) if (entry.kind !== 'refold') followed.push(entry.kind)
      })
      // A stopped redecode ends after a page; the next one does the rest.
      const stopped = { ...parts(store, log), stop: AbortSignal.abort() }
      await t.throwsAsync(
        redecodeWallets(stopped, everybody(), () => {}, { rowsPerPage: 20 }),
        {
          code: 'closed',
        },
      )
      const reports: Progress[] = []
      const done = await redecodeWallets(parts(store, log), everybody(), (p) => reports.push(p))
      t.deepEqual(await dump(store), expected)
      t.is(done.passed_by, 0)
      t.is(done.transactions, expected.transactions?.length ?? 0)
      t.is(done.wallets_folded, 6)
      for (const found of Object.values({ ...done.events, removed: done.undecoded.removed }))
        t.true(found > 0)
      t.deepEqual(done.undecoded, { ...nothing, removed: done.undecoded.removed })
      t.true(done.changed > 20 && done.changed <= done.transactions)
      t.deepEqual(reports.filter(({ what }) => what === 'transactions').at(-1), {
        what: 'transactions',
        done: done.transactions,
        total: done.transactions,
      })

      // A second redecode writes nothing and folds no wallet.
      const again = await redecodeWallets(parts(onlyReading(store), log), everybody(), () => {})
      const unchanged = { changed: 0, events: nothing, undecoded: nothing, wallets_folded: 0 }
      t.deepEqual(again, { transactions: done.transactions, passed_by: 0, ...unchanged })
      t.deepEqual(followed, [])
    })
    t.deepEqual(before, expected)
  },
)

test.serial('events of which the bytes were deleted stay as they are (rule K28)', async (t) => {
  const { store } = opened
  await stored(await recordsOf(wrongDecoder(chain.wallets)), async (log) => {
    const before = await dump(store)
    await store.command('TRUNCATE TABLE transactions')
    await redecodeWallets(parts(store, log), everybody(), () => {})
    t.deepEqual(await dump(store), { ...before, transactions: [] })
  })
})

test.serial('one wallet is redecoded, and the others stay as they were', async (t) => {
  const { store } = opened
  const right = await stored(await recordsOf(createDecoder(chain.wallets)))
  const wrong = await recordsOf(wrongDecoder(chain.wallets))
  const wrongDump = await stored(wrong)
  await stored(wrong, async (log) => {
    const done = await redecodeWallets(parts(store, log), [3], () => {})
    t.is(done.wallets_folded, 1)
    t.true(done.transactions < (right.transactions?.length ?? 0))
    const rows = await dump(store)
    const of = (all: Record<string, Row[]>, which: (wallet: unknown) => boolean) =>
      Object.fromEntries(
        Object.entries(all).map(([table, found]) => [
          table,
          found.filter(({ wallet }) => which(wallet)),
        ]),
      )
    t.deepEqual(
      of(rows, (wallet) => wallet === 3),
      of(right, (wallet) => wallet === 3),
    )
    t.deepEqual(
      of(rows, (wallet) => wallet !== 3),
      of(wrongDump, (wallet) => wallet !== 3),
    )
  })
})

test.serial(
  'a redecode that is killed before any of its writes and repeated leads to the same tables',
  async (t) => {
    const { store } = opened
    const expected = await stored(await recordsOf(createDecoder(chain.wallets)))
    const wrong = await recordsOf(wrongDecoder(chain.wallets))
    for (let n = 1, finished = false; !finished; n++) {
      const rows = await stored(wrong, async (log) => {
        const dying = parts(dyingStore(store, n), log)
        const killed = redecodeWallets(dying, everybody(), () => {}, { rowsPerPage: 20 })
        finished = await killed.then(
          () => true,
          (error: unknown) => {
            if (!(error instanceof ServiceError && error.code === 'closed')) throw error
            return false
          },
        )
        await redecodeWallets(parts(store, log), everybody(), () => {})
      })
      t.deepEqual(rows, expected, `killed at write ${n}`)
      if (finished) t.true(n > 10, String(n))
    }
  },
)

test.serial(
  'a swap keeps its SOL price; a new swap gets the price of its time (rule C1)',
  async (t) => {
    const { store } = opened
    await stored(await recordsOf(wrongDecoder(chain.wallets)), async (log) => {
      // Today's stored prices differ from those of the swaps.
      const prices = await store.query<{ time: number }>('SELECT time FROM sol_prices FINAL')
      await store.command('TRUNCATE TABLE sol_prices')
      await store.insert(
        'sol_prices',
        prices.map(({ time }) => ({ time, source: 'file', usd_e9: '7' })),
      )
      const read = (where: string) =>
        store.query<{ block_time: number; price: string | null }>(
          `SELECT block_time, sol_price_usd_e9 AS price FROM swaps FINAL WHERE quote_mint IS NOT NULL AND ${where}`,
        )
      const had = await read('true')
      await redecodeWallets(parts(store, log), everybody(), () => {})
      const kept = await read('sol_price_usd_e9 != 7')
      t.true(had.length > 5 && kept.length >= had.length)
      for (const { block_time, price } of kept) t.is(price, String(priceAt(block_time)))
      t.true((await read('sol_price_usd_e9 = 7')).length > 0)
    })
  },
)

test.serial('a transaction without readable bytes is skipped, its events stay', async (t) => {
  const { store } = opened
  await stored(await recordsOf(wrongDecoder(chain.wallets)), async (log) => {
    const before = await dump(store)
    const rows = await store.query<Row>(
      `SELECT slot, tx_index, block_time, signature, if(tx_index % 2 = 0, 'too_large', 'yellowstone') AS format,
         if(tx_index % 2 = 0, '', base64Encode(substring(bytes, 1, 90))) AS base64, decoder_version FROM transactions`,
    )
    await store.command('TRUNCATE TABLE transactions')
    await insertTransactions(store, rows)
    const done = await redecodeWallets(parts(store, log), everybody(), () => {})
    t.is(done.passed_by, done.transactions)
    t.deepEqual({ ...(await dump(store)), transactions: [] }, { ...before, transactions: [] })
  })
})

test.serial(
  'a label that was added names the stored swaps, and nothing else changes (B11a)',
  async (t) => {
    const { store } = opened
    const { id } = PROGRAMS.find(({ name }) => name === 'raydium_clmm')!
    const labels = new LabelTable([])
    const known = PROGRAMS.filter(({ name }) => name !== 'raydium_clmm')
    const programs = createProgramRegistry(known, labels)
    await stored(await recordsOf(createDecoder(chain.wallets, programs)), async (log) => {
      const named = () =>
        store.query<{ n: number }>(
          "SELECT toUInt32(count()) AS n FROM swaps FINAL WHERE program = 'mine' AND confidence = 'delta_only'",
        )
      t.deepEqual(await named(), [{ n: 0 }])
      labels.replace([{ name: 'mine', programId: id, label: null }])
      const running = { ...parts(store, log), names: { labels, programs } }
      const done = await redecodeWallets(running, everybody(), () => {})
      t.true(done.events.changed > 0)
      t.deepEqual(done.events, { added: 0, changed: done.events.changed, removed: 0 })
      t.deepEqual(await named(), [{ n: done.events.changed }])
    })
  },
)

/** A store that refuses writes. */
function onlyReading(store: Store): Store {
  const refuse = async () => {
    throw new Error('nothing is to be written')
  }
  return { ...store, insert: refuse, command: refuse }
}

/** The store of a process that is killed instead of its `n`-th write. */
function dyingStore(store: Store, n: number): Store {
  let writes = 0
  const alive = (isWrite: boolean) => {
    if (isWrite) writes++
    if (writes >= n) throw new ServiceError('closed', 'killed')
  }
  return {
    ...store,
    async query(sql, params) {
      alive(false)
      return store.query(sql, params)
    },
    async insert(table, rows, options) {
      if (rows.length === 0) return
      alive(true)
      await store.insert(table, rows, options)
    },
  }
}
