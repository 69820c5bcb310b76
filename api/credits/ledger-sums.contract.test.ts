import { randomUUID } from 'node:crypto'
import test, { type ExecutionContext } from 'ava'
import fc from 'fast-check'
import { dateTime } from '../../pipeline/store/date-time.ts'
import type { Store } from '../../pipeline/store/store.ts'
import { leftOf } from '../testing/left-of.ts'
import { openEmbeddedStore, openServerStore, type TestStore } from '../testing/open-stores.ts'
import { Ledger } from './ledger.ts'
import { makeSums, readUsageSums } from './ledger-sums.ts'
import { createMemoryMeter } from './memory.ts'
import { METER_LIMITS, type Meter } from './meter.ts'

const { CLICKHOUSE_URL } = process.env
const SETS = [
  { name: 'embedded', open: openEmbeddedStore },
  ...(CLICKHOUSE_URL ? [{ name: 'server', open: () => openServerStore(CLICKHOUSE_URL) }] : []),
]

const opened = new Map<string, TestStore>()
test.before(async () => {
  for (const { name, open } of SETS) opened.set(name, await open())
})
test.after.always(async () => {
  for (const { remove } of opened.values()) await remove()
})

function contract(title: string, check: (t: ExecutionContext, store: Store) => Promise<void>) {
  for (const { name } of SETS)
    test.serial(`${name}: ${title}`, async (t) => {
      const { store } = opened.get(name) as TestStore // opened before the tests
      await store.command('ALTER TABLE ledger_entries DELETE WHERE 1 SETTINGS mutations_sync = 2')
      await check(t, store)
    })
}

const HOUR_MS = 3_600_000
const EPOCHS = ['5b0d3c1e-1111-4c6b-9d57-0c6a2b9d1f00', '7c0d3c1e-2222-4c6b-9d57-0c6a2b9d1f00']
const ACCOUNTS = ['alice', 'bob', 'carol']

/** Entries as the versions without running sums stored them; some are written again later. */
const oldEntry = fc.record({
  account: fc.constantFrom(...ACCOUNTS),
  kind: fc.constantFrom('grant', 'adjustment', 'hour', 'range'),
  epoch: fc.constantFrom(...EPOCHS),
  hour: fc.integer({ min: 490_000, max: 490_005 }),
  credits: fc.integer({ min: 1, max: 1000 }),
  times: fc.integer({ min: 1, max: 2 }),
})
type OldEntry = typeof oldEntry extends fc.Arbitrary<infer T> ? T : never

function rowOf({ account, kind, epoch, hour, credits }: OldEntry, at: number) {
  const ms = hour * HOUR_MS + at
  const isUsage = kind === 'hour' || kind === 'range'
  const suffix = kind === 'hour' ? `${hour}` : `${ms}-0`
  return {
    wallet: account,
    idempotency_key: isUsage ? `usage:${epoch}:${suffix}` : `${kind}:${at}`,
    credits: isUsage ? -credits : credits,
    cause: isUsage ? 'usage' : kind,
    reason: '',
    usage_ms: kind === 'hour' ? BigInt(at) * 2n ** 40n : isUsage ? ms : 0,
    usage_sequence: 0,
    created_at: dateTime(ms),
  }
}

/** What happens once there are running sums. */
const step = fc.oneof(
  { weight: 6, arbitrary: fc.record({ kind: fc.constant('use'), n: fc.nat({ max: 99 }) }) },
  { weight: 5, arbitrary: fc.record({ kind: fc.constant('roll_up'), n: fc.nat({ max: 1 }) }) },
  { weight: 2, arbitrary: fc.record({ kind: fc.constant('late'), n: fc.nat({ max: 5 }) }) },
  { weight: 2, arbitrary: fc.record({ kind: fc.constant('grant'), n: fc.nat({ max: 9 }) }) },
  { weight: 2, arbitrary: fc.record({ kind: fc.constant('hours'), n: fc.nat({ max: 3 }) }) },
  { weight: 1, arbitrary: fc.record({ kind: fc.constant('lose'), n: fc.constant(0) }) },
  { weight: 1, arbitrary: fc.record({ kind: fc.constant('make'), n: fc.constant(0) }) },
  { weight: 1, arbitrary: fc.record({ kind: fc.constant('merge'), n: fc.constant(0) }) },
)

contract(
  'a new meter loads what adding up every entry gives, with older entries, rows that come late and sums made again (rule E4)',
  async (t, store) => {
    await fc.assert(
      fc.asyncProperty(
        fc.array(oldEntry, { minLength: 5, maxLength: 20 }),
        fc.array(step, { minLength: 30, maxLength: 40 }),
        async (entries, steps) => {
          await store.command(
            'ALTER TABLE ledger_entries DELETE WHERE 1 SETTINGS mutations_sync = 2',
          )
          for (const [at, entry] of entries.entries())
            for (let time = 0; time < entry.times; time++)
              await store.insert('ledger_entries', [rowOf(entry, at)])
          await expectTotals(t, store)
          let now = 490_006 * HOUR_MS
          const inserts: unknown[][] = []
          const recording: Store = {
            ...store,
            async insert(table, rows, options) {
              inserts.push([...rows])
              await store.insert(table, rows, options)
            },
          }
          const open = () => {
            const meter = createMemoryMeter(METER_LIMITS, () => now)
            const ledgers = [0, 1].map(
              () => new Ledger({ store: recording, meter, now: () => now }),
            )
            return { meter, ledgers }
          }
          let { meter, ledgers } = open()
          const ledger = (n: number) => ledgers[n] as Ledger // one of two processes
          for (const account of ACCOUNTS)
            await ledger(0).append([
              { account, key: 'plenty', credits: 1_000_000, cause: 'grant', reason: '' },
            ])
          for (const [at, { kind, n }] of steps.entries()) {
            const account = ACCOUNTS[n % ACCOUNTS.length] ?? ''
            now += 10
            if (kind === 'use') {
              if ((await leftOf(meter, account)) === null) await ledger(0).load(account)
              await meter.charge(account, n, `${at}`)
            } else if (kind === 'roll_up') await ledger(n).rollUp()
            else if (kind === 'late') {
              const some = inserts[inserts.length - 1 - n] ?? []
              await store.insert('ledger_entries', some as never) // rows of an earlier insert
            } else if (kind === 'grant') {
              const grant = { account, key: `grant ${n}`, credits: n, cause: 'grant', reason: '' }
              await ledger(0).append([grant as never]) // one of the causes
            } else if (kind === 'hours') now += n * HOUR_MS
            else if (kind === 'make') await makeSums(store)
            else if (kind === 'merge') await store.command('OPTIMIZE TABLE ledger_entries FINAL')
            else {
              await meter.close()
              ;({ meter, ledgers } = open())
            }
          }
          await ledger(1).rollUp()
          await expectTotals(t, store)
          t.deepEqual((await ledger(0).check()).mismatches, [])
        },
      ),
      {
        numRuns: 8,
        endOnFailure: true,
        reporter({ failed, seed, errorInstance }) {
          if (failed) throw new Error(`with seed ${seed}: ${String(errorInstance)}`)
        },
      },
    )
  },
)

/** Loads every account into a new meter, at once, and compares with the sum of its entries. */
async function expectTotals(t: ExecutionContext, store: Store): Promise<void> {
  const meter = createMemoryMeter()
  const ledger = new Ledger({ store, meter })
  await Promise.all(ACCOUNTS.map((account) => ledger.load(account)))
  const rows = await store.query<{ wallet: string; total: string }>(
    'SELECT wallet, sum(credits) AS total FROM ledger_entries FINAL WHERE wallet IN {accounts:Array(String)} GROUP BY wallet',
    { accounts: ACCOUNTS },
  )
  const totals = new Map(rows.map(({ wallet, total }) => [wallet, Number(total)]))
  for (const account of ACCOUNTS) t.is(await leftOf(meter, account), totals.get(account) ?? 0)
}

contract('the sum of usage has the part of its last hour', async (t, store) => {
  const [epoch = ''] = EPOCHS
  const usage = { account: 'alice', kind: 'hour', epoch, times: 1 } as const
  const rows = [
    rowOf({ ...usage, hour: 490_000, credits: 3 }, 1),
    rowOf({ ...usage, hour: 490_001, credits: 4 }, 2),
    rowOf({ ...usage, account: 'bob', kind: 'range', hour: 490_001, credits: 5 }, 3),
  ]
  await store.insert('ledger_entries', rows)
  await makeSums(store)
  const { sums } = await readUsageSums(store, epoch, ['alice', 'bob', 'carol'])
  t.deepEqual(
    sums,
    new Map([
      ['alice', { credits: -7, hour: 490_001, hourCredits: -4 }],
      ['bob', { credits: -5, hour: 490_001, hourCredits: 0 }],
    ]),
  )
})

contract(
  'accounts that are loaded at once share queries; a batch that fails fails no other',
  async (t, store) => {
    const accounts = Array.from({ length: 1200 }, () => randomUUID())
    const meter: Meter = createMemoryMeter()
    const sizes: number[] = []
    const counting: Store = {
      ...store,
      query: (text, params, columns) => {
        const { accounts: some } = (params ?? {}) as { accounts?: string[] }
        if (some !== undefined) sizes.push(some.length)
        // Two batches are under way at once, and either may ask first.
        const isSecond = some?.some((one) => one.endsWith(accounts[500] ?? ''))
        if (isSecond) throw new Error('the query failed')
        return store.query(text, params, columns)
      },
    }
    const grants = accounts.map((account, n) => {
      return { account, key: 'created', credits: n, cause: 'grant', reason: '' } as const
    })
    await new Ledger({ store, meter }).append(grants)
    const ledger = new Ledger({ store: counting, meter })
    const loads = await Promise.allSettled(accounts.map((account) => ledger.load(account)))
    t.deepEqual(sizes, [500, 500, 200])
    t.deepEqual(
      loads.map(({ status }) => status),
      accounts.map((_, n) => (n >= 500 && n < 1000 ? 'rejected' : 'fulfilled')),
    )
    t.deepEqual(
      await Promise.all(accounts.map((account) => leftOf(meter, account))),
      accounts.map((_, n) => (n >= 500 && n < 1000 ? null : n)),
    )
  },
)
