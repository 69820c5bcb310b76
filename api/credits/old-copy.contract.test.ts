import { type ChildProcess, spawn } from 'node:child_process'
import { randomUUID } from 'node:crypto'
import { once } from 'node:events'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as pause } from 'node:timers/promises'
import anyTest, { type ExecutionContext } from 'ava'
import { Redis } from 'ioredis'
import { createLogger } from '../../pipeline/runtime/logger.ts'
import { startForwarder } from '../testing/forwarder.ts'
import { leftOf } from '../testing/left-of.ts'
import { openEmbeddedStore } from '../testing/open-stores.ts'
import { Credits } from './credits.ts'
import { Ledger } from './ledger.ts'
import { createRedisMeter } from './redis.ts'

/** These tests start servers of their own, so they run only where Redis is in use already. */
const enabled = process.env.REDIS_URL !== undefined
const test = enabled ? anyTest.serial : anyTest.serial.skip
const why = enabled ? '' : ' (skipped: REDIS_URL is not set)'
const logger = createLogger('silent')

const store = enabled ? openEmbeddedStore() : null
anyTest.after.always(async () => (await store)?.remove())

/** A Redis server of one test. */
async function startRedis(t: ExecutionContext): Promise<{ port: number; redis: Redis }> {
  const dir = mkdtempSync(join(tmpdir(), 'redis-'))
  for (let port = 12_900; ; port++) {
    const server = spawn('redis-server', [
      ...['--port', String(port), '--bind', '127.0.0.1', '--dir', dir, '--save', ''],
      ...['--repl-diskless-sync-delay', '0'],
    ])
    if (!(await isReady(server))) continue // the port is taken
    const redis = new Redis(port, '127.0.0.1')
    t.teardown(async () => {
      redis.disconnect()
      server.kill('SIGKILL')
      await once(server, 'exit')
      rmSync(dir, { recursive: true })
    })
    return { port, redis }
  }
}

async function isReady(server: ChildProcess): Promise<boolean> {
  let output = ''
  for await (const text of server.stdout ?? []) {
    output += text
    if (output.includes('Ready to accept connections')) {
      server.stdout?.resume()
      return true
    }
  }
  return false
}

/** A master and its replica, with a link that can be cut, and the ledger. */
async function startPair(t: ExecutionContext) {
  const [master, replica] = [await startRedis(t), await startRedis(t)]
  const link = await startForwarder()
  t.teardown(() => link.close())
  link.lead(master.port)
  await replica.redis.replicaof('127.0.0.1', link.port)
  const prefix = `test:{${randomUUID()}}:`
  const opened = await store
  const open = async (port: number) => {
    const meter = await createRedisMeter(
      new URL(`redis://127.0.0.1:${port}`),
      { logger },
      { prefix },
    )
    t.teardown(() => meter.close())
    const ledger = new Ledger({ store: opened?.store as never, meter }) // opened where tests run
    return { meter, ledger, credits: new Credits({ meter, ledger, logger }) }
  }
  return { master, replica, link, prefix, open }
}

/** Waits until the replica has everything of the master. */
async function caughtUp(master: Redis): Promise<void> {
  await master.incr('written') // WAIT waits for writes of its own connection
  while ((await master.wait(1, 100)) < 1);
}

const grant = (account: string, credits: number) =>
  ({ account, key: randomUUID(), credits, cause: 'grant', reason: 'test' }) as const

for (const aheadMs of [0, 3_600_000])
  for (const ranges of [1, 2]) {
    test(`with a new master that lags, whose clock is ${aheadMs} ms behind, the ledger has each of ${ranges} ranges once, and only unwritten usage is lost (rule K12)${why}`, async (t) => {
      const { master, replica, link, prefix, open } = await startPair(t)
      const first = await open(master.port)
      const accounts: string[] = [randomUUID(), randomUUID()]
      for (const account of accounts) await first.ledger.add(grant(account, 1000))
      const charge = async (credits: Credits, amount: number) => {
        for (const account of accounts) await credits.charge(account, amount, randomUUID())
      }
      await charge(first.credits, 1)
      if (ranges === 2) await first.ledger.rollUp()
      await charge(first.credits, 2)
      await caughtUp(master.redis)
      link.open(false)
      const ahead = `${Date.now() + aheadMs}-0`
      if (aheadMs > 0) await master.redis.call('XSETID', `${prefix}usage`, ahead)
      await charge(first.credits, 4)
      t.true((await first.ledger.rollUp()) > 0)
      await charge(first.credits, 8) // lost: only the first master has it

      await replica.redis.replicaof('NO', 'ONE')
      const second = await open(replica.port)
      t.deepEqual(await Promise.all(accounts.map((a) => leftOf(second.meter, a))), [null, null])
      await charge(second.credits, 16)
      while (await second.ledger.rollUp());
      await charge(second.credits, 32)
      while (await second.ledger.rollUp());
      const left = 1000 - (1 + 2 + 4 + 16 + 32)
      t.deepEqual(await Promise.all(accounts.map((a) => second.credits.left(a))), [left, left])
      await second.ledger.rebuildMeter()
      t.deepEqual(await Promise.all(accounts.map((a) => second.credits.left(a))), [left, left])
      const { mismatches } = await second.ledger.check()
      t.deepEqual(
        mismatches.filter(({ wallet }) => accounts.includes(wallet)),
        [],
      )
    })
  }

test(`a master that comes back knows no account, although its process is the same${why}`, async (t) => {
  const { master, replica, link, open } = await startPair(t)
  const account = randomUUID()
  const first = await open(master.port)
  await first.ledger.add(grant(account, 10))
  await caughtUp(master.redis)
  link.open(false)
  await first.credits.charge(account, 1, randomUUID())
  await first.ledger.rollUp()

  await replica.redis.replicaof('NO', 'ONE')
  const second = await open(replica.port)
  await second.ledger.add(grant(randomUUID(), 10))
  await master.redis.replicaof('127.0.0.1', replica.port)
  while (!(await master.redis.info('replication')).includes('master_link_status:up'))
    await pause(20)
  await caughtUp(replica.redis)
  await master.redis.replicaof('NO', 'ONE')
  const third = await open(master.port)
  t.is(await leftOf(third.meter, account), null)
  t.is(await third.credits.left(account), 9)
})
