import { randomUUID } from 'node:crypto'
import { once } from 'node:events'
import test from 'ava'
import { createLogger } from '../../pipeline/runtime/logger.ts'
import { connectRedis } from '../redis-connection.ts'
import { forwardTo } from '../testing/forwarder.ts'
import { createMemoryUsedNonces, createRedisUsedNonces, type UsedNonces } from './used-nonces.ts'

const { REDIS_URL } = process.env
const KINDS = REDIS_URL ? (['memory', 'redis'] as const) : (['memory'] as const)
if (!REDIS_URL) test.skip('used nonces on Redis: REDIS_URL is not set', () => {})
const logger = createLogger('silent')

/** A set with its own clock, as opened by `processes` processes (in memory: one). */
async function open(kind: (typeof KINDS)[number], limit: number, processes = 1) {
  const clock = { now: 1_000_000 }
  const options = { limit, now: () => clock.now }
  if (kind === 'memory') {
    const nonces = createMemoryUsedNonces(options)
    return { clock, all: Array.from({ length: processes }, () => nonces), close: async () => {} }
  }
  const name = `test:${randomUUID()}`
  const connections = await Promise.all(
    Array.from({ length: processes }, () =>
      connectRedis(new URL(REDIS_URL ?? ''), logger, { enableAutoPipelining: true }),
    ),
  )
  return {
    clock,
    all: connections.map((redis) => createRedisUsedNonces(redis, name, options)),
    async close() {
      await connections[0]?.del(`tw:${name}`)
      for (const redis of connections) redis.disconnect()
    },
  }
}

const first = (all: readonly UsedNonces[]) => all[0] as UsedNonces // never empty

for (const kind of KINDS) {
  test(`${kind}: of a hundred concurrent uses of a nonce one succeeds`, async (t) => {
    const { clock, all, close } = await open(kind, 100, 4)
    for (let round = 0; round < 20; round++) {
      const used = await Promise.all(
        Array.from({ length: 100 }, (_, at) => all[at % 4]?.use(`nonce ${round}`, clock.now)),
      )
      t.is(used.filter(Boolean).length, 1)
    }
    await close()
  })

  test(`${kind}: a used nonce stays used until no process accepts its message`, async (t) => {
    const { clock, all, close } = await open(kind, 10)
    const nonces = first(all)
    const issuedAt = clock.now
    t.true(await nonces.use('a', issuedAt))
    // Five minutes, and the five seconds that a clock may be behind.
    clock.now += 305_000
    t.false(await nonces.use('a', issuedAt))
    await close()
  })

  test(`${kind}: at the limit no other nonce can be used, and none is evicted`, async (t) => {
    const { clock, all, close } = await open(kind, 2)
    const nonces = first(all)
    t.deepEqual([await nonces.use('a', clock.now), await nonces.use('b', clock.now)], [true, true])
    await t.throwsAsync(nonces.use('c', clock.now), { code: 'unavailable' })
    t.deepEqual(
      [await nonces.use('a', clock.now), await nonces.use('b', clock.now)],
      [false, false],
    )
    clock.now += 310_000
    t.true(await nonces.use('c', clock.now))
    await close()
  })
}

const onRedis = REDIS_URL ? test : test.skip
onRedis('redis: while Redis does not answer, no nonce can be used', async (t) => {
  const redis = await connectRedis(new URL(REDIS_URL ?? ''), logger)
  const nonces = createRedisUsedNonces(redis, `test:${randomUUID()}`, { limit: 10 })
  redis.disconnect()
  await t.throwsAsync(nonces.use('a', Date.now() + 60_000), { code: 'unavailable' })
})

onRedis('redis: a nonce from before the connection was lost cannot be used', async (t) => {
  const way = await forwardTo(new URL(REDIS_URL ?? ''))
  const redis = await connectRedis(way.url, logger)
  const name = `test:${randomUUID()}`
  t.teardown(async () => {
    await redis.del(`tw:${name}`)
    redis.disconnect()
    way.close()
  })
  const clock = { now: 1_000_000 }
  const nonces = createRedisUsedNonces(redis, name, { limit: 10, now: () => clock.now })
  t.true(await nonces.use('a', clock.now))
  const isBack = once(redis, 'ready')
  way.cut()
  await isBack
  await redis.del(`tw:${name}`) // simulates the loss
  t.deepEqual([await nonces.use('a', clock.now), await nonces.use('b', clock.now)], [false, false])
  clock.now += 6000
  t.true(await nonces.use('c', clock.now))
})
