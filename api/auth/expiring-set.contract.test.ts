import { randomUUID } from 'node:crypto'
import test from 'ava'
import { createLogger } from '../../pipeline/runtime/logger.ts'
import { connectRedis } from '../redis-connection.ts'
import { createMemorySet, createRedisSet } from './expiring-set.ts'

const { REDIS_URL } = process.env
const KINDS = REDIS_URL ? (['memory', 'redis'] as const) : (['memory'] as const)
if (!REDIS_URL) test.skip('expiring sets on Redis: REDIS_URL is not set', () => {})

/** A set with its own clock. */
async function open(kind: (typeof KINDS)[number], limit: number) {
  const clock = { now: 1_000_000 }
  const options = { limit, now: () => clock.now }
  if (kind === 'memory')
    return { clock, set: createMemorySet(options), redis: null, close: async () => {} }
  const name = `test:${randomUUID()}`
  const redis = await connectRedis(new URL(REDIS_URL ?? ''), createLogger('silent'), {
    enableAutoPipelining: true,
  })
  return {
    clock,
    redis,
    set: createRedisSet(redis, name, options),
    async close() {
      await redis.del(`tw:${name}`)
      redis.disconnect()
    },
  }
}

for (const kind of KINDS) {
  test(`${kind}: a string is in the set until its time`, async (t) => {
    const { clock, set, close } = await open(kind, 10)
    t.false(await set.has('a'))
    await set.add('a', clock.now + 100)
    t.deepEqual([await set.has('a'), await set.has('a'), await set.has('b')], [true, true, false])
    clock.now += 99
    t.true(await set.has('a'))
    clock.now += 1
    t.false(await set.has('a'))
    await set.add('a', clock.now + 100)
    t.true(await set.has('a'))
    // Adding it again never shortens its time.
    await set.add('c', clock.now + 100)
    await set.add('c', clock.now + 50)
    t.deepEqual([await set.untilOf('c'), await set.untilOf('d')], [clock.now + 100, 0])
    clock.now += 100
    t.is(await set.untilOf('c'), 0)
    await close()
  })

  test(`${kind}: expired strings make room first; beyond the limit the oldest are evicted`, async (t) => {
    const { clock, set, close } = await open(kind, 3)
    for (const text of ['a', 'b', 'c', 'd']) {
      clock.now += 1
      await set.add(text, clock.now + 100)
    }
    const known = async () => {
      const texts = ['a', 'b', 'c', 'd', 'e', 'f', 'g']
      const are = await Promise.all(texts.map((text) => set.has(text)))
      return texts.filter((_, at) => are[at]).join('')
    }
    t.is(await known(), 'bcd')
    clock.now += 98 // b and c have expired
    await set.add('e', clock.now + 100)
    await set.add('f', clock.now + 100)
    t.is(await known(), 'def')
    await set.add('g', clock.now + 101)
    t.is(await known(), 'efg')
    await close()
  })
}

const onRedis = REDIS_URL ? test : test.skip
onRedis('while Redis does not answer, every call rejects with unavailable', async (t) => {
  const { set, redis, close } = await open('redis', 3)
  await set.add('a', 2_000_000)
  redis?.disconnect()
  const add = () => set.add('b', 2_000_000)
  for (const step of [() => set.has('a'), () => set.untilOf('a'), add])
    await t.throwsAsync(step(), { code: 'unavailable' })
  await close().catch(() => {})
})
