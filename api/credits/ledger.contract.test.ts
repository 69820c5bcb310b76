import { randomUUID } from 'node:crypto'
import test, { type ExecutionContext } from 'ava'
import fc from 'fast-check'
import { ServiceError } from '../../pipeline/domain/service-error.ts'
import { createLogger } from '../../pipeline/runtime/logger.ts'
import type { Store } from '../../pipeline/store/store.ts'
import { leftOf } from '../testing/left-of.ts'
import { openEmbeddedStore, openServerStore, type TestStore } from '../testing/open-stores.ts'
import { Credits } from './credits.ts'
import { Ledger } from './ledger.ts'
import { createMemoryMeter } from './memory.ts'
import { type Meter, STREAM_START } from './meter.ts'
import { createRedisMeter } from './redis.ts'

const { CLICKHOUSE_URL, REDIS_URL } = process.env
const logger = createLogger('silent')

interface Parts {
  readonly store: Store
  readonly meter: Meter
  readonly ledger: Ledger
  readonly credits: Credits
  /** A new meter, after the old one lost all its data. */
  newMeter(): Promise<Meter>
}

const SETS = [
  { name: 'embedded', why: '', open: openEmbeddedStore, meter: async () => createMemoryMeter() },
  {
    name: 'servers',
    why:
      CLICKHOUSE_URL === undefined || REDIS_URL === undefined
        ? 'CLICKHOUSE_URL and REDIS_URL are not set'
        : '',
    open: () => openServerStore(CLICKHOUSE_URL ?? ''),
    meter: () =>
      createRedisMeter(new URL(REDIS_URL ?? ''), { logger }, { prefix: `test:{${randomUUID()}}:` }),
  },
]

const opened = new Map<string, TestStore>()
test.before(async () => {
  for (const { name, why, open } of SETS) if (why === '') opened.set(name, await open())
})
test.after.always(async () => {
  for (const { remove } of opened.values()) await remove()
})

function contract(title: string, check: (t: ExecutionContext, parts: Parts) => Promise<void>) {
  for (const { name, why, meter: newMeter } of SETS) {
    if (why !== '') {
      test.skip(`${name} (${why}): ${title}`, () => {})
      continue
    }
    test(`${name}: ${title}`, async (t) => {
      const store = opened.get(name)?.store
      if (store === undefined) return t.fail()
      const meter = await newMeter()
      t.teardown(() => meter.close())
      const ledger = new Ledger({ store, meter })
      const credits = new Credits({ meter, ledger, logger })
      await check(t, { store, meter, ledger, credits, newMeter })
    })
  }
}

const grant = (account: string, credits: number, key: string = randomUUID()) =>
  ({ account, key, credits, cause: 'grant', reason: 'test' }) as const

contract('an entry with the key of another one is the same entry', async (t, { ledger }) => {
  const account = randomUUID()
  t.is(await ledger.add(grant(account, 100, 'once')), 100)
  t.is(await ledger.add(grant(account, 100, 'once')), 100)
  t.is(await ledger.add({ ...grant(account, -30), cause: 'adjustment' }), 70)
})

contract(
  'the credit of a withdrawn trade is given back once, also while the ledger was down (rule K9)',
  async (t, { store, meter, ledger }) => {
    const account = randomUUID()
    await ledger.add(grant(account, 100))
    let isDown = true
    const insert: Store['insert'] = async (...args) => {
      if (isDown) await fail()
      await store.insert(...args)
    }
    const credits = (): Credits =>
      new Credits({ meter, ledger: new Ledger({ store: { ...store, insert }, meter }), logger })
    const [one, other] = [credits(), credits()]
    one.giveBackLater(account, ['a', 'b', 'a'])
    other.giveBackLater(account, ['b', 'c'])
    await one.stop()
    t.is(await one.left(account), 100)
    isDown = false
    await one.stop()
    await other.stop()
    await one.stop()
    t.is(await one.left(account), 103)
    const rows = await store.query(
      "SELECT idempotency_key AS key, credits, cause FROM ledger_entries FINAL WHERE wallet = {account:String} AND cause != 'grant' ORDER BY key",
      { account },
    )
    t.deepEqual(
      rows,
      ['a', 'b', 'c'].map((id) => ({
        key: `retract:${account}:${id}`,
        credits: '1',
        cause: 'adjustment',
      })),
    )
  },
)

contract(
  'credits of withdrawn trades are given back to all accounts together, after the roll-up, which does not fail with them (rule K9)',
  async (t, { store, meter, ledger }) => {
    const accounts = [randomUUID(), randomUUID(), randomUUID()]
    for (const account of accounts) await ledger.add(grant(account, 100))
    await ledger.rollUp() // makes the running sums
    let isDown = true
    let queries = 0
    const inserts: string[][] = []
    const counting: Store = {
      ...store,
      query: (...args) => {
        queries++
        return store.query(...args)
      },
      async insert(table, rows, options) {
        const causes = rows.map(({ cause }) => String(cause))
        if (isDown && causes.includes('adjustment')) await fail()
        await store.insert(table, rows, options)
        inserts.push(causes)
      },
    }
    const logged: string[] = []
    const credits = new Credits({
      meter,
      ledger: new Ledger({ store: counting, meter }),
      logger: createLogger('info', { write: (line) => logged.push(line) }),
    })
    await credits.charge(accounts[0] ?? '', 3, randomUUID())
    for (const account of accounts) credits.giveBackLater(account, ['a', 'b'])
    await credits.stop()
    t.deepEqual(inserts, [['usage', 'usage', 'usage']])
    isDown = false
    queries = 0
    await credits.stop()
    t.deepEqual(inserts.slice(1), [Array(12).fill('adjustment')])
    t.true(queries <= 4, 'not one for each account')
    t.deepEqual(
      await Promise.all(accounts.map((account) => leftOf(meter, account))),
      [99, 102, 102],
    )
    t.deepEqual(
      logged.map((line) => JSON.parse(line).msg),
      [
        'giving back credits of withdrawn trades failed; will retry',
        'giving back credits of withdrawn trades works again',
      ],
    )
  },
)

test('credits of withdrawn trades beyond the bound are not given back, and the log says how many (rule K6)', async (t) => {
  const logged: string[] = []
  const given: number[] = []
  const ledger = { append: async (entries: unknown[]) => given.push(entries.length) }
  const credits = new Credits({
    meter: createMemoryMeter(),
    ledger: { ...ledger, rollUp: async () => 0, reloadGranted: async () => {} } as never, // a part
    logger: createLogger('info', { write: (line) => logged.push(line) }),
  })
  const ids = Array.from({ length: 10_003 }, (_, id) => `${id}`)
  credits.giveBackLater('alice', ids)
  credits.giveBackLater('alice', ids.slice(0, 5))
  credits.giveBackLater('bob', ids.slice(0, 5))
  await credits.stop()
  await credits.stop()
  t.deepEqual(given, [10_005])
  t.deepEqual(
    logged.map((line) => {
      const { msg, credits } = JSON.parse(line)
      return { msg, credits }
    }),
    [{ msg: 'credits of withdrawn trades are not given back', credits: 3 }],
  )
})

contract(
  'usage is in the ledger after a roll-up, and a new meter loads the rest',
  async (t, parts) => {
    const { store, ledger, credits, newMeter } = parts
    const account = randomUUID()
    await ledger.add(grant(account, 100))
    for (const id of ['a', 'b', 'c']) await credits.charge(account, 3, id)
    await credits.refund(account, 'b')
    t.is(await ledger.rollUp(), 4, 'the refund is an entry too')
    t.is(await ledger.rollUp(), 0)
    await credits.charge(account, 1, 'd')
    t.is(await credits.left(account), 93)
    const lost = await newMeter()
    const after = new Credits({ meter: lost, ledger: new Ledger({ store, meter: lost }), logger })
    // Usage since the last roll-up is lost, in the customer's favour (rule J5).
    t.is(await after.left(account), 94)
    t.deepEqual(await after.charge(account, 4, 'e'), { kind: 'charged', left: 90 })
    await lost.close()
  },
)

contract(
  'a process that ends during a roll-up loses nothing and counts nothing twice',
  async (t, parts) => {
    const { store, meter, ledger, credits } = parts
    const account = randomUUID()
    await ledger.add(grant(account, 100))
    await credits.charge(account, 3, randomUUID())
    const dying = (point: 'insert' | 'endRollUp') =>
      new Ledger({
        store: { ...store, ...(point === 'insert' && { insert: fail }) },
        meter: point === 'insert' ? meter : dyingMeter(meter),
      })
    for (const point of ['insert', 'endRollUp', 'endRollUp'] as const) {
      await t.throwsAsync(dying(point).rollUp(), { message: 'killed' })
      await credits.charge(account, 1, randomUUID())
      // Loads in between, as another process would at its start.
      await ledger.load(account)
    }
    t.is(await credits.left(account), 94)
    while (await ledger.rollUp());
    await ledger.load(account)
    t.is(await credits.left(account), 94)
    const rows = await store.query(
      'SELECT credits, cause FROM ledger_entries FINAL WHERE wallet = {account:String} ORDER BY credits',
      { account },
    )
    t.deepEqual(rows, [
      { credits: '-6', cause: 'usage' },
      { credits: '100', cause: 'grant' },
    ])
  },
)

contract(
  'usage is one entry for each account and hour, however often it is rolled up',
  async (t, { store, meter, ledger, credits }) => {
    const accounts = [randomUUID(), randomUUID()]
    for (const account of accounts) await ledger.add(grant(account, 1000))
    const epoch = await meter.epoch()
    const hours = new Map<string, number>()
    for (let n = 0; n < 5; n++) {
      for (const [at, account] of accounts.entries())
        if (at === 0 || n % 2 === 0) await credits.charge(account, 10 + n, randomUUID())
      const range = await meter.beginRollUp(epoch, STREAM_START)
      const hour = Math.floor(Number(range?.to.split('-')[0]) / 3_600_000)
      for (const [account, used] of range?.usage ?? []) {
        const key = `${account} usage:${epoch}:${hour}`
        hours.set(key, (hours.get(key) ?? 0) - used)
      }
      t.true((await ledger.rollUp()) > 0)
    }
    const rows = await store.query<{ name: string; credits: string }>(
      "SELECT concat(wallet, ' ', idempotency_key) AS name, credits FROM ledger_entries FINAL WHERE wallet IN {accounts:Array(String)} AND cause = 'usage' ORDER BY name",
      { accounts },
    )
    t.deepEqual(
      rows.map(({ name, credits: sum }) => [name, Number(sum)]),
      [...hours].sort(([a], [b]) => (a < b ? -1 : 1)),
    )
  },
)

contract(
  'a roll-up of an earlier range that is stored late changes nothing',
  async (t, { store, meter, ledger, credits }) => {
    const account = randomUUID()
    await ledger.add(grant(account, 100))
    let release: () => void = () => {}
    const isHeld = new Promise<void>((resolve) => {
      release = resolve
    })
    let held: () => void = () => {}
    const reached = new Promise<void>((resolve) => {
      held = resolve
    })
    const insert: Store['insert'] = async (...args) => {
      held()
      await isHeld
      await store.insert(...args)
    }
    const slow = new Ledger({ store: { ...store, insert }, meter })
    await credits.charge(account, 3, randomUUID())
    const rolling = slow.rollUp()
    await reached
    t.is(await ledger.rollUp(), 1, 'another process writes the same range')
    await credits.charge(account, 4, randomUUID())
    t.is(await ledger.rollUp(), 1)
    release()
    await rolling
    const { mismatches } = await ledger.check()
    t.deepEqual(
      mismatches.filter(({ wallet }) => wallet === account),
      [],
    )
    await ledger.load(account)
    t.is(await credits.left(account), 93)
  },
)

contract(
  'while a server of the ledger lags, usage stays in the meter; what it has lost after a minute is lost',
  async (t, { store, meter, ledger, credits }) => {
    const account = randomUUID()
    await ledger.add(grant(account, 100))
    const epoch = await meter.epoch()
    const usage =
      "wallet IN ({account:String}, concat('!', {account:String})) AND idempotency_key LIKE {key:String}"
    const mark = "wallet = '' AND idempotency_key = {mark:String}"
    const params = { account, key: `usage:${epoch}%`, mark: `epoch:${epoch}` }
    const rows = () =>
      store.query<Record<string, unknown>>(
        `SELECT * FROM ledger_entries WHERE (${usage}) OR (${mark})`,
        params,
      )
    await credits.charge(account, 3, randomUUID())
    await ledger.rollUp()
    const before = await rows()
    await credits.charge(account, 4, randomUUID())
    await ledger.rollUp()
    const newest = await rows()
    const have = async (some: readonly Record<string, unknown>[]) => {
      await store.command(`DELETE FROM ledger_entries WHERE (${usage}) OR (${mark})`, params)
      await store.insert('ledger_entries', some)
    }
    await have(before)
    await credits.charge(account, 5, randomUUID())
    const clock = { now: 0 }
    const own = new Ledger({ store, meter, now: () => clock.now })
    await t.throwsAsync(own.rollUp(), { code: 'unavailable' })
    clock.now += 59_999
    await t.throwsAsync(own.rollUp(), { code: 'unavailable' })

    await have(newest)
    t.is(await own.rollUp(), 1, 'the server has caught up')
    await ledger.load(account)
    t.is(await credits.left(account), 88)

    await have(before)
    await credits.charge(account, 1, randomUUID())
    await t.throwsAsync(own.rollUp(), { code: 'unavailable' })
    clock.now += 60_000
    t.is(await own.rollUp(), 1)
    await ledger.load(account)
    t.is(await credits.left(account), 96, '3 and 1 of 13 used credits are left')
  },
)

contract(
  'under concurrent use, roll-ups, loads and grants, ledger and meter agree at every moment',
  async (t, parts) => {
    const { ledger, credits } = parts
    const accounts = [randomUUID(), randomUUID(), randomUUID()]
    await Promise.all(accounts.map((account) => ledger.add(grant(account, 1000))))
    let charged = 0
    const use = async (account: string) => {
      for (let n = 0; n < 60; n++) {
        const id = randomUUID()
        await credits.charge(account, 3, id)
        if (n % 5 === 0) await credits.refund(account, id)
        else charged += 3
        if (n % 20 === 0) await ledger.load(account)
      }
    }
    let using = true
    const rollUps = (async () => {
      while (using) await ledger.rollUp()
    })()
    const secondProcess = (async () => {
      while (using) await ledger.rollUp()
    })()
    const names: readonly string[] = accounts
    const check = async () =>
      (await ledger.check()).mismatches.filter(({ wallet }) => names.includes(wallet))
    const checks = (async () => {
      const found = []
      while (using) found.push(...(await check()))
      return found
    })()
    await Promise.all(accounts.map(use))
    await ledger.add(grant(accounts[0] ?? '', 7))
    using = false
    await Promise.all([rollUps, secondProcess])
    t.deepEqual(await checks, [])
    while (await ledger.rollUp());
    const left = await Promise.all(accounts.map((account) => credits.left(account)))
    t.is(
      left.reduce((a, b) => a + b),
      3007 - charged,
    )
    t.deepEqual(await check(), [])
  },
)

contract(
  'an entry that the meter missed is loaded, even after a long outage',
  async (t, { store, meter }) => {
    const clock = { now: 1_790_000_000_000 }
    const now = () => clock.now
    let away = false
    const flaky: Store = { ...store, query: (...args) => (away ? fail() : store.query(...args)) }
    const ledger = new Ledger({ store: flaky, meter, now })
    const dying = new Ledger({ store, meter: dyingMeter(meter, 'load'), now })
    const account = randomUUID()
    await ledger.add(grant(account, 100))
    await ledger.reloadGranted()

    await t.throwsAsync(dying.add(grant(account, 50)), { message: 'killed' })
    t.is(await leftOf(meter, account), 100)
    away = true
    for (let day = 0; day < 3; day++) {
      await t.throwsAsync(ledger.reloadGranted(), { message: 'killed' })
      clock.now += 86_400_000
    }
    away = false
    await ledger.reloadGranted()
    t.is(await leftOf(meter, account), 150)

    await t.throwsAsync(dying.add(grant(account, 20)), { message: 'killed' })
    clock.now += 43_200_000
    const started = new Ledger({ store, meter, now })
    await started.reloadGranted()
    t.is(await leftOf(meter, account), 170)
  },
)

contract(
  'a difference between ledger and meter is reported, and a rebuild ends it',
  async (t, { store, ledger }) => {
    const account = randomUUID()
    await ledger.add(grant(account, 100))
    const made = {
      credits: -5,
      cause: 'usage',
      reason: '',
      usage_ms: 0,
      usage_sequence: 0,
      created_at: '2026-01-01 00:00:00',
    }
    const insert = async (idempotency_key: string) => {
      const rows = [account, `!${account}`].map((wallet) => ({ ...made, wallet, idempotency_key }))
      await store.insert('ledger_entries', rows)
    }
    await insert('recovered:made up')
    const mismatches = async () =>
      (await ledger.check()).mismatches.filter(({ wallet }) => wallet === account)
    t.deepEqual(await mismatches(), [{ wallet: account, what: 'used', ledger: 5, meter: 0 }])
    await ledger.load(account)
    t.deepEqual(await mismatches(), [])
    await insert('recovered:made up too')
    t.deepEqual(await mismatches(), [{ wallet: account, what: 'used', ledger: 10, meter: 5 }])
    t.true((await ledger.rebuildMeter()) > 0)
    t.deepEqual(await mismatches(), [])
    const extra = { ...made, wallet: `!${account}`, idempotency_key: 'recovered:in the sum alone' }
    await store.insert('ledger_entries', [extra])
    t.deepEqual(await mismatches(), [
      { wallet: account, what: 'running_sum', ledger: 90, meter: 85 },
    ])
  },
)

contract(
  'a charge with an unknown outcome is refunded when the meter answers again',
  async (t, parts) => {
    const { meter, ledger } = parts
    const account = randomUUID()
    await ledger.add(grant(account, 100))
    let cut = false
    const flaky: Meter = {
      ...delegate(meter),
      async charge(...args) {
        const charge = await meter.charge(...args)
        if (cut) throw new ServiceError('unavailable', 'the answer was lost', { retriable: true })
        return charge
      },
    }
    const credits = new Credits({ meter: flaky, ledger, logger })
    cut = true
    await t.throwsAsync(credits.charge(account, 3, 'lost'), { code: 'unavailable' })
    t.is(await leftOf(meter, account), 97)
    cut = false
    await credits.stop()
    t.is(await leftOf(meter, account), 100)
  },
)

const RUNS = 5
const STEPS = 2000
const ACCOUNTS = 4

/** One step of a random history. */
type Step =
  | {
      readonly kind: 'top_up'
      readonly account: number
      readonly key: number
      readonly dies: boolean
    }
  | { readonly kind: 'charge'; readonly account: number; readonly credits: number }
  | { readonly kind: 'give_back'; readonly which: number }
  | {
      readonly kind: 'block'
      readonly account: number
      readonly spent: number
      readonly wanted: number
    }
  | { readonly kind: 'roll_up'; readonly dies: 'insert' | 'endRollUp' | null }
  | { readonly kind: 'rebuild' }

const account = fc.nat(ACCOUNTS - 1)
const dies = fc.nat(3).map((n) => n === 0)
const stepArbitrary: fc.Arbitrary<Step> = fc.oneof(
  {
    weight: 5,
    arbitrary: fc.record({ kind: fc.constant('top_up'), account, key: fc.nat(60), dies }),
  },
  {
    weight: 60,
    arbitrary: fc.record({
      kind: fc.constant('charge'),
      account,
      credits: fc.integer({ min: 1, max: 30 }),
    }),
  },
  { weight: 15, arbitrary: fc.record({ kind: fc.constant('give_back'), which: fc.nat() }) },
  {
    weight: 15,
    arbitrary: fc.record({
      kind: fc.constant('block'),
      account,
      spent: fc.nat(40),
      wanted: fc.nat(40),
    }),
  },
  {
    weight: 4,
    arbitrary: fc.record({
      kind: fc.constant('roll_up'),
      dies: fc.constantFrom(null, 'insert', 'endRollUp'),
    }),
  },
  { weight: 1, arbitrary: fc.record({ kind: fc.constant('rebuild') }) },
) as fc.Arbitrary<Step> // fast-check widens the literals

contract(
  `${RUNS * STEPS} random top-ups, charges, refunds, feed blocks, crashes and rebuilds: every balance equals its ledger, none is ever negative`,
  async (t, { store, newMeter }) => {
    await fc.assert(
      fc.asyncProperty(
        fc.array(stepArbitrary, { minLength: STEPS, maxLength: STEPS }),
        async (steps) => {
          const names: string[] = Array.from({ length: ACCOUNTS }, () => randomUUID())
          const name = (at: number) => names[at] ?? ''
          let meter = await newMeter()
          let ledger = new Ledger({ store, meter })
          let credits = new Credits({ meter, ledger, logger })
          const granted = names.map(() => new Map<number, number>())
          let requests: { readonly account: number; readonly id: string }[] = []
          let blocks = names.map(() => ({ connection: randomUUID(), sequence: 0, held: 0 }))
          const start = async () => {
            meter = await newMeter()
            ledger = new Ledger({ store, meter })
            credits = new Credits({ meter, ledger, logger })
          }
          const seen = (left: number) => {
            if (left < 0) throw new Error(`a balance of ${left}`)
          }
          for (const step of steps) {
            switch (step.kind) {
              case 'top_up': {
                const sum = 10 * step.key
                const entry = {
                  account: name(step.account),
                  key: `deposit:${step.key}`,
                  credits: sum,
                  cause: 'deposit',
                  reason: '',
                } as const
                granted[step.account]?.set(step.key, sum)
                const dead = new Ledger({ store, meter: dyingMeter(meter, 'load') })
                if (step.dies) await dead.add(entry).catch(expectKilled)
                else seen(await ledger.add(entry))
                break
              }
              case 'charge': {
                const id = randomUUID()
                const charge = await credits.charge(name(step.account), step.credits, id)
                seen(charge.left)
                if (charge.kind === 'charged') requests.push({ account: step.account, id })
                break
              }
              case 'give_back': {
                // Some are refunded twice, some after the meter was lost: both have no effect.
                const request = requests[step.which % Math.max(1, requests.length)]
                if (request !== undefined)
                  seen((await credits.refund(name(request.account), request.id)) ?? 0)
                break
              }
              case 'block': {
                const block = blocks[step.account]
                if (block === undefined) break
                const spent = Math.min(step.spent, block.held)
                block.sequence++
                const renewal = {
                  connection: block.connection,
                  sequence: block.sequence,
                  spent,
                  wanted: step.wanted,
                }
                const grant = await credits.renewBlock(name(step.account), renewal)
                seen(grant.left)
                block.held = grant.credits
                break
              }
              case 'roll_up': {
                const dead = new Ledger({
                  store: { ...store, ...(step.dies === 'insert' && { insert: fail }) },
                  meter: step.dies === 'endRollUp' ? dyingMeter(meter, 'endRollUp') : meter,
                })
                await dead.rollUp().catch(expectKilled)
                break
              }
              case 'rebuild':
                // The meter is lost with the usage that was not rolled up. Connections keep using
                // their blocks.
                await meter.close()
                await start()
                if (requests.length > 100) requests = requests.slice(-20)
            }
          }
          for (const [at, block] of blocks.entries()) {
            block.sequence++
            const end = { ...block, spent: 0, wanted: 0 }
            seen((await credits.renewBlock(name(at), end)).left)
          }
          blocks = []
          while (await ledger.rollUp());
          await ledger.reloadGranted()
          const sums = await store.query<{ wallet: string; total: string; funded: string }>(
            `SELECT wallet, sum(credits) AS total, sumIf(credits, cause != 'usage') AS funded
           FROM ledger_entries FINAL WHERE wallet IN {names:Array(String)} GROUP BY wallet`,
            { names },
          )
          for (const [at, wallet] of names.entries()) {
            const row = sums.find((found) => found.wallet === wallet)
            const expected = [...(granted[at]?.values() ?? [])].reduce((a, b) => a + b, 0)
            t.is(Number(row?.funded ?? 0), expected)
            const left = await credits.left(wallet)
            t.is(left, Number(row?.total ?? 0))
            seen(left)
          }
          const { mismatches } = await ledger.check()
          t.deepEqual(
            mismatches.filter(({ wallet }) => names.includes(wallet)),
            [],
          )
          await meter.close()
        },
      ),
      {
        numRuns: RUNS,
        endOnFailure: true,
        // The seed is more useful than a list of two thousand steps.
        reporter({ failed, seed, errorInstance }) {
          if (failed) throw new Error(`with seed ${seed}: ${String(errorInstance)}`)
        },
      },
    )
  },
)

contract(
  'a ledger from a backup takes usage from the meter that outlived it, once (rule K17)',
  async (t, { store, meter, ledger, credits }) => {
    const account = randomUUID()
    await ledger.add(grant(account, 100, 'before'))
    await credits.charge(account, 10, randomUUID())
    await ledger.rollUp()
    const of =
      "wallet IN ({account:String}, concat('!', {account:String})) OR idempotency_key = concat('epoch:', {epoch:String})"
    const params = { account, epoch: await meter.epoch() }
    const backup = await store.query<Record<string, unknown>>(
      `SELECT * FROM ledger_entries WHERE ${of}`,
      params,
    )
    await ledger.add(grant(account, 50, 'after'))
    await credits.charge(account, 20, randomUUID())
    await ledger.rollUp()
    await credits.charge(account, 5, randomUUID()) // still in the meter
    await store.command(`DELETE FROM ledger_entries WHERE ${of}`, params)
    await store.insert('ledger_entries', backup)

    t.deepEqual(await ledger.recoverFromMeter(), {
      recovered_usage_credits: 20,
      lost_grants: [{ wallet: account, credits: 50 }],
    })
    t.is(await credits.left(account), 65)
    t.is(await ledger.add(grant(account, 50, 'after')), 115)
    await credits.charge(account, 1, randomUUID())
    await ledger.rollUp()
    t.deepEqual(await ledger.recoverFromMeter(), { recovered_usage_credits: 0, lost_grants: [] })
    t.is(await credits.left(account), 114)
    const { mismatches } = await ledger.check()
    t.deepEqual(
      mismatches.filter(({ wallet }) => wallet === account),
      [],
    )
  },
)

contract(
  'an empty meter changes nothing of a ledger from a backup (rule K17)',
  async (t, { store, ledger, credits, newMeter }) => {
    const account = randomUUID()
    await ledger.add(grant(account, 100))
    await credits.charge(account, 10, randomUUID())
    await ledger.rollUp()
    const meter = await newMeter()
    t.teardown(() => meter.close())
    const restored = new Ledger({ store, meter })
    t.deepEqual(await restored.recoverFromMeter(), { recovered_usage_credits: 0, lost_grants: [] })
    t.is(await restored.updateMeter(account), 90)
  },
)

function expectKilled(error: Error): void {
  if (error.message !== 'killed') throw error
}

async function fail(): Promise<never> {
  throw new Error('killed')
}

function dyingMeter(meter: Meter, step: 'endRollUp' | 'load' = 'endRollUp'): Meter {
  return { ...delegate(meter), charge: meter.charge.bind(meter), [step]: fail }
}

/** The methods of a meter except `charge`, bound, because private fields are lost in a copy. */
function delegate(meter: Meter): Omit<Meter, 'charge'> {
  return {
    refund: meter.refund.bind(meter),
    balance: meter.balance.bind(meter),
    renewBlock: meter.renewBlock.bind(meter),
    releaseExpiredBlocks: meter.releaseExpiredBlocks.bind(meter),
    epoch: meter.epoch.bind(meter),
    load: meter.load.bind(meter),
    mayRollUp: meter.mayRollUp.bind(meter),
    leaveRollUp: meter.leaveRollUp.bind(meter),
    beginRollUp: meter.beginRollUp.bind(meter),
    endRollUp: meter.endRollUp.bind(meter),
    inspect: meter.inspect.bind(meter),
    rolledUp: meter.rolledUp.bind(meter),
    forget: meter.forget.bind(meter),
    ping: meter.ping.bind(meter),
    close: meter.close.bind(meter),
  }
}
