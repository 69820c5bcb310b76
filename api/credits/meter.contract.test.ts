import { randomUUID } from 'node:crypto'
import { setTimeout as pause } from 'node:timers/promises'
import test, { type ExecutionContext } from 'ava'
import fc from 'fast-check'
import { Redis } from 'ioredis'
import { createLogger } from '../../pipeline/runtime/logger.ts'
import { forwardTo } from '../testing/forwarder.ts'
import { leftOf } from '../testing/left-of.ts'
import { createMemoryMeter } from './memory.ts'
import {
  type LedgerTotal,
  METER_LIMITS,
  type Meter,
  type MeterLimits,
  STREAM_START,
  type StreamPosition,
} from './meter.ts'
import { createRedisMeter } from './redis.ts'

const redisUrl = process.env.REDIS_URL
const logger = createLogger('silent')

const makers: Record<string, ((limits: MeterLimits) => Promise<Meter>) | string> = {
  memory: async (limits) => createMemoryMeter(limits),
  redis:
    redisUrl === undefined
      ? 'REDIS_URL is not set'
      : (limits) =>
          createRedisMeter(
            new URL(redisUrl),
            { logger },
            { prefix: `test:{${randomUUID()}}:`, limits },
          ),
}

type Snapshot = LedgerTotal & StreamPosition

const load = (meter: Meter, account: string, snapshot: Snapshot) =>
  meter.load(snapshot, new Map([[account, snapshot]]))

/** Returns the ledger's state of an account that was granted credits in one entry. */
async function granted(meter: Meter, credits: number, rest: Partial<Snapshot> = {}) {
  const epoch = await meter.epoch()
  return { epoch, rolledTo: STREAM_START, funded: credits, entries: 1, used: 0, ...rest }
}

function contract(
  title: string,
  check: (t: ExecutionContext, meter: Meter) => Promise<void>,
  limits = METER_LIMITS,
) {
  for (const [name, make] of Object.entries(makers)) {
    if (typeof make === 'string') {
      test.skip(`${name} (${make}): ${title}`, () => {})
      continue
    }
    test(`${name}: ${title}`, async (t) => {
      const meter = await make(limits)
      try {
        await check(t, meter)
      } finally {
        await meter.close()
      }
    })
  }
}

contract('accounts are loaded together, each with its use that waits', async (t, meter) => {
  const epoch = await meter.epoch()
  const total = { funded: 10, entries: 1, used: 1 }
  const accounts = ['a', 'b', 'c']
  const all = new Map(accounts.map((account) => [account, total]))
  const at = { epoch, rolledTo: STREAM_START }
  t.is(await meter.load(at, all), 'loaded')
  await meter.charge('a', 2, 'r1')
  await meter.charge('b', 3, 'r2')
  await meter.charge('a', 1, 'r3')
  const newer = { funded: 20, entries: 2, used: 1 }
  t.is(await meter.load(at, new Map([...all, ['b', newer], ['d', newer]])), 'loaded')
  t.deepEqual(
    await Promise.all([...accounts, 'd'].map((account) => leftOf(meter, account))),
    [6, 16, 9, 19],
  )
})

contract('an account is unknown until it is loaded from the ledger', async (t, meter) => {
  t.is(await leftOf(meter, 'a'), null)
  t.deepEqual(await meter.charge('a', 1, 'r1'), { kind: 'unknown' })
  const renewal = { connection: 'c', sequence: 1, spent: 0, wanted: 5 }
  t.deepEqual(await meter.renewBlock('a', renewal), { kind: 'unknown' })
  t.is(await load(meter, 'a', await granted(meter, 10)), 'loaded')
  t.is(await leftOf(meter, 'a'), 10)
  t.is(await leftOf(meter, 'b'), null)
})

contract('a request is charged once, all or nothing', async (t, meter) => {
  await load(meter, 'a', await granted(meter, 4))
  t.deepEqual(await meter.charge('a', 3, 'r1'), { kind: 'charged', left: 1 })
  t.deepEqual(await meter.charge('a', 3, 'r1'), { kind: 'charged', left: 1 })
  t.deepEqual(await meter.charge('a', 3, 'r2'), { kind: 'insufficient', left: 1 })
  t.deepEqual(await meter.charge('a', 1, 'r3'), { kind: 'charged', left: 0 })
})

contract('a charge is refunded once, and a refunded request is never charged', async (t, meter) => {
  await load(meter, 'a', await granted(meter, 10))
  await meter.charge('a', 3, 'r1')
  await meter.refund('a', 'r1')
  await meter.refund('a', 'r1')
  t.is(await leftOf(meter, 'a'), 10)
  await meter.refund('a', 'lost on the way')
  await t.throwsAsync(meter.charge('a', 3, 'lost on the way'), { name: 'ServiceError' })
  t.is(await leftOf(meter, 'a'), 10)
})

contract(
  'usage is rolled up in ranges: the same range is returned until it is ended',
  async (t, meter) => {
    const epoch = await meter.epoch()
    t.is(await meter.beginRollUp(epoch, STREAM_START), null)
    await load(meter, 'a', await granted(meter, 100))
    await load(meter, 'b', await granted(meter, 100))
    for (const id of ['r1', 'r2']) await meter.charge('a', 3, id)
    await meter.charge('b', 1, 'r3')
    const first = await meter.beginRollUp(epoch, STREAM_START)
    t.deepEqual([first?.entries, first?.usage], [3, new Map(Object.entries({ a: 6, b: 1 }))])
    await meter.charge('a', 1, 'r4')
    t.deepEqual(await meter.beginRollUp(epoch, STREAM_START), first)
    await meter.endRollUp('another epoch', first?.to ?? '')
    t.deepEqual(await meter.beginRollUp(epoch, STREAM_START), first)
    await meter.endRollUp(epoch, first?.to ?? '')
    await meter.endRollUp(epoch, first?.to ?? '')
    // A process that read the ledger before that range was stored gets the next range.
    const second = await meter.beginRollUp(epoch, STREAM_START)
    t.deepEqual(second?.usage, new Map([['a', 1]]))
    t.is(second?.from, first?.to)
    t.deepEqual(await meter.beginRollUp(epoch, first?.to ?? ''), second)
    t.is(await meter.beginRollUp('another epoch', STREAM_START), null)
    t.is(await leftOf(meter, 'a'), 93)
  },
)

const real = redisUrl === undefined ? test.skip : test

contract('a process that rolls up alone may go on', async (t, meter) => {
  t.true(await meter.mayRollUp())
  t.true(await meter.mayRollUp())
  await meter.leaveRollUp()
  t.true(await meter.mayRollUp())
})

real(
  'redis: one process rolls up, until it leaves it to others or does not ask for three seconds',
  async (t) => {
    const prefix = `test:{${randomUUID()}}:`
    const url = new URL(redisUrl ?? '')
    const [one, other] = await Promise.all([
      createRedisMeter(url, { logger }, { prefix }),
      createRedisMeter(url, { logger }, { prefix }),
    ])
    const redis = new Redis(url.href)
    t.true(await one.mayRollUp())
    t.false(await other.mayRollUp())
    await redis.pexpire(`${prefix}roller`, 1000)
    t.true(await one.mayRollUp())
    const left = await redis.pttl(`${prefix}roller`)
    t.true(left > 1000 && left <= 3000, `${left} ms`)
    await redis.del(`${prefix}roller`) // as when they are over
    t.true(await other.mayRollUp())
    t.false(await one.mayRollUp())
    await one.leaveRollUp()
    t.false(await one.mayRollUp())
    await other.leaveRollUp()
    t.true(await one.mayRollUp())
    redis.disconnect()
    await Promise.all([one.close(), other.close()])
  },
)

contract(
  'a range is bounded, and a net use of zero is zero',
  async (t, meter) => {
    const epoch = await meter.epoch()
    await load(meter, 'a', await granted(meter, 100))
    await meter.charge('a', 3, 'r1')
    await meter.refund('a', 'r1')
    await meter.charge('a', 1, 'r2')
    t.deepEqual((await meter.beginRollUp(epoch, STREAM_START))?.usage, new Map([['a', 0]]))
  },
  { ...METER_LIMITS, rollUpEntries: 2 },
)

contract(
  'loading an account again keeps its usage, rolled up or not, counted once',
  async (t, meter) => {
    const epoch = await meter.epoch()
    await load(meter, 'a', await granted(meter, 100))
    await meter.charge('a', 5, 'r1')
    const range = await meter.beginRollUp(epoch, STREAM_START)
    const rolledTo = range?.to ?? ''
    await meter.charge('a', 1, 'r2')
    // The range is in the ledger but not ended yet: both snapshots are right.
    t.is(await load(meter, 'a', await granted(meter, 100)), 'loaded')
    t.is(await leftOf(meter, 'a'), 94)
    t.is(await load(meter, 'a', await granted(meter, 100, { rolledTo, used: 5 })), 'loaded')
    t.is(await leftOf(meter, 'a'), 94)
    await meter.endRollUp(epoch, rolledTo)
    t.is(await load(meter, 'a', await granted(meter, 100)), 'stale')
    t.is(await load(meter, 'a', await granted(meter, 100, { epoch: 'another' })), 'stale')
    t.is(
      await load(meter, 'a', await granted(meter, 150, { rolledTo, used: 5, entries: 2 })),
      'loaded',
    )
    t.is(await leftOf(meter, 'a'), 144)
    // An older snapshot that arrives late changes nothing.
    t.is(await load(meter, 'a', await granted(meter, 100, { rolledTo, used: 5 })), 'loaded')
    t.is(await leftOf(meter, 'a'), 144)
    const at = { epoch, rolledTo }
    t.deepEqual(await meter.inspect(['a', 'b'], at), [
      { account: 'a', funded: 150, entries: 2, rolledUp: 5, reserved: 0, blocks: 0 },
    ])
    t.is(await meter.inspect(['a'], { epoch, rolledTo: STREAM_START }), null)
  },
)

contract(
  'a feed connection reserves a block, charges what it used and returns the rest',
  async (t, meter) => {
    const epoch = await meter.epoch()
    await load(meter, 'a', await granted(meter, 25))
    const renew = (sequence: number, spent: number, wanted: number, connection = 'c1') =>
      meter.renewBlock('a', { connection, sequence, spent, wanted })
    t.deepEqual(await renew(1, 0, 10), { kind: 'granted', credits: 10, left: 15 })
    t.deepEqual(await renew(1, 0, 10), { kind: 'granted', credits: 10, left: 15 })
    t.deepEqual(await renew(2, 7, 10), { kind: 'granted', credits: 10, left: 8 })
    t.deepEqual(await renew(2, 7, 10), { kind: 'granted', credits: 10, left: 8 })
    t.deepEqual(await renew(1, 0, 10, 'c2'), { kind: 'granted', credits: 8, left: 0 })
    t.deepEqual(await meter.charge('a', 1, 'r1'), { kind: 'insufficient', left: 0 })
    t.deepEqual(await renew(3, 10, 0), { kind: 'granted', credits: 0, left: 0 })
    t.deepEqual(await renew(2, 0, 0, 'c2'), { kind: 'granted', credits: 0, left: 8 })
    t.deepEqual((await meter.beginRollUp(epoch, STREAM_START))?.usage, new Map([['a', 17]]))
  },
)

contract(
  'the block of a lost connection is refunded',
  async (t, meter) => {
    await load(meter, 'a', await granted(meter, 25))
    await meter.renewBlock('a', { connection: 'c1', sequence: 1, spent: 0, wanted: 10 })
    t.is(await leftOf(meter, 'a'), 15)
    t.is(await meter.releaseExpiredBlocks(), 1)
    t.is(await meter.releaseExpiredBlocks(), 0)
    t.is(await leftOf(meter, 'a'), 25)
    // It renews after others used its credits: no more is charged than is left.
    await meter.charge('a', 20, 'r1')
    const late = { connection: 'c1', sequence: 2, spent: 8, wanted: 3 }
    t.deepEqual(await meter.renewBlock('a', late), { kind: 'granted', credits: 0, left: 0 })
  },
  { ...METER_LIMITS, blockMs: 0 },
)

contract(
  'charges are refused when the backlog of the ledger is full',
  async (t, meter) => {
    await load(meter, 'a', await granted(meter, 25))
    await meter.charge('a', 1, 'r1')
    await meter.charge('a', 1, 'r2')
    t.deepEqual(await meter.charge('a', 1, 'r3'), { kind: 'backlog' })
    t.deepEqual(
      await meter.renewBlock('a', { connection: 'c', sequence: 1, spent: 1, wanted: 5 }),
      { kind: 'backlog' },
    )
    const epoch = await meter.epoch()
    const range = await meter.beginRollUp(epoch, STREAM_START)
    await meter.endRollUp(epoch, range?.to ?? '')
    t.deepEqual(await meter.charge('a', 1, 'r3'), { kind: 'charged', left: 22 })
  },
  { ...METER_LIMITS, maxBacklog: 2 },
)

contract(
  'under concurrency no balance is negative and every credit is accounted for',
  async (t, meter) => {
    const step = fc.record({
      kind: fc.constantFrom('charge', 'refund', 'block', 'rollUp', 'load'),
      request: fc.nat({ max: 15 }),
      credits: fc.integer({ min: 1, max: 9 }),
    })
    let run = 0
    let rolledTo = STREAM_START
    await fc.assert(
      fc.asyncProperty(fc.array(step, { maxLength: 60 }), async (steps) => {
        const account = `a${run++}`
        const epoch = await meter.epoch()
        const ledger = { funded: 100, entries: 1, used: 0, rolledTo, epoch }
        const rollUp = async () => {
          const range = await meter.beginRollUp(epoch, ledger.rolledTo)
          if (range === null) return
          ledger.used += range.usage.get(account) ?? 0
          ledger.rolledTo = range.to
          rolledTo = range.to
          await meter.endRollUp(epoch, range.to)
        }
        await load(meter, account, ledger)
        let sequence = 0
        let held = 0
        await Promise.all(
          steps.map(async ({ kind, request, credits }) => {
            const requestId = `${account}-${request}`
            if (kind === 'charge') await meter.charge(account, credits, requestId).catch(() => {})
            else if (kind === 'refund') await meter.refund(account, requestId)
            else if (kind === 'block') {
              const renewal = { connection: 'c', sequence: ++sequence, spent: 0, wanted: credits }
              await meter.renewBlock(account, renewal)
            } else if (kind === 'load') await load(meter, account, { ...ledger })
          }),
        )
        const [state] = (await meter.inspect([account], ledger)) ?? []
        held = state?.blocks ?? 0
        t.true(
          (await leftOf(meter, account)) !== null && ((await leftOf(meter, account)) ?? -1) >= 0,
        )
        await rollUp()
        t.is(await leftOf(meter, account), 100 - ledger.used - held)
        t.deepEqual(await meter.inspect([account], ledger), [
          { account, funded: 100, entries: 1, rolledUp: ledger.used, reserved: held, blocks: held },
        ])
      }),
      { numRuns: 40 },
    )
  },
)

const realTitle = (title: string) =>
  redisUrl === undefined ? `redis (REDIS_URL is not set): ${title}` : title

real(realTitle('redis: a wrong password is reported, but not shown'), async (t) => {
  const url = new URL(redisUrl ?? '')
  url.password = 'not-the-password'
  await t.throwsAsync(createRedisMeter(url, { logger }), {
    code: 'bad_config',
    message: `REDIS_URL: Redis at ${url.host} refuses this user and password`,
  })
})

real(
  realTitle('redis: a server that lost its data knows no account, and starts a new epoch'),
  async (t) => {
    const prefix = `test:{${randomUUID()}}:`
    const url = new URL(redisUrl ?? '')
    const meter = await createRedisMeter(url, { logger }, { prefix })
    await load(meter, 'a', await granted(meter, 10))
    const epoch = await meter.epoch()
    const redis = new Redis(url.href)
    await redis.del(...(await redis.keys(`${prefix}*`)))
    redis.disconnect()
    t.is(await leftOf(meter, 'a'), null)
    t.not(await meter.epoch(), epoch)
    await meter.close()
  },
)

real(
  realTitle('redis: while the server is down every step fails at once, and works afterwards'),
  async (t) => {
    const line = await forwardTo(new URL(redisUrl ?? ''))
    const meter = await createRedisMeter(
      line.url,
      { logger },
      { prefix: `test:{${randomUUID()}}:` },
    )
    await load(meter, 'a', await granted(meter, 10))
    await meter.charge('a', 1, 'r1')
    line.open(false)
    for (const step of [
      meter.charge('a', 1, 'r2'),
      leftOf(meter, 'a'),
      meter.ping(),
      meter.refund('a', 'r1'),
    ])
      await t.throwsAsync(step, { name: 'ServiceError', code: 'unavailable' })
    line.open(true)
    while (!(await meter.ping().then(yes, no))) await pause(5)
    t.is(await leftOf(meter, 'a'), 9)
    await meter.close()
    line.close()
  },
)

const yes = () => true
const no = () => false
