import { randomUUID } from 'node:crypto'
import test from 'ava'
import { createLogger } from '../../pipeline/runtime/logger.ts'
import { connectRedis } from '../redis-connection.ts'
import { createMemorySet, createRedisSet, type ExpiringSet } from './expiring-set.ts'

const { REDIS_URL } = process.env
const KINDS = REDIS_URL ? (['memory', 'redis'] as const) : (['memory'] as const)
if (!REDIS_URL) test.skip('expiring sets on Redis: REDIS_URL is not set', () => {})

/** A set with a clock of its own, as `processes` processes have it (in memory: one). */
async function open(kind: (typeof KINDS)[number], limit: number, processes = 1) {
  const clock = { now: 1_000_000 }
  const options = { limit, now: () => clock.now }
  if (kind === 'memory') {
    const set = createMemorySet(options)
    const sets = Array.from({ length: processes }, () => set)
    return { clock, sets, connections: [], close: async () => {} }
  }
  const name = `test:${randomUUID()}`
  const connections = await Promise.all(
    Array.from({ length: processes }, () =>
      connectRedis(new URL(REDIS_URL ?? ''), createLogger('silent'), {
        enableAutoPipelining: true,
      }),
    ),
  )
  const sets = connections.map((redis) => createRedisSet(redis, name, options))
  return {
    ...{ clock, sets, connections },
    async close() {
      await connections[0]?.del(`tw:${name}`)
      for (const redis of connections) redis.disconnect()
    },
  }
}

const first = (sets: readonly ExpiringSet[]) => sets[0] as ExpiringSet // there is one

for (const kind of KINDS) {
  test(`${kind}: a text is known until its time, and taken once`, async (t) => {
    const { clock, sets, close } = await open(kind, 10)
    const set = first(sets)
    t.deepEqual([await set.has('a'), await set.take('a')], [false, false])
    await set.add('a', clock.now + 100)
    await set.add('b', clock.now + 100)
    t.deepEqual([await set.has('a'), await set.has('a')], [true, true])
    t.deepEqual(
      [await set.take('a'), await set.take('a'), await set.has('a')],
      [true, false, false],
    )
    clock.now += 99
    t.true(await set.has('b'))
    clock.now += 1
    t.deepEqual([await set.has('b'), await set.take('b')], [false, false])
    await set.add('b', clock.now + 100)
    t.true(await set.take('b'))
    await close()
  })

  test(`${kind}: of a hundred who take a text at once one gets it`, async (t) => {
    const { clock, sets, close } = await open(kind, 10, 4)
    for (let round = 0; round < 20; round++) {
      const text = `text ${round}`
      await first(sets).add(text, clock.now + 1000)
      const taken = await Promise.all(
        Array.from({ length: 100 }, (_, at) => sets[at % 4]?.take(text)),
      )
      t.is(taken.filter(Boolean).length, 1)
    }
    await close()
  })

  test(`${kind}: beyond the limit the oldest are forgotten; what has ended makes room first`, async (t) => {
    const { clock, sets, close } = await open(kind, 3)
    const set = first(sets)
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
    clock.now += 98 // b and c have ended
    await set.add('e', clock.now + 100)
    await set.add('f', clock.now + 100)
    t.is(await known(), 'def')
    await set.add('g', clock.now + 101)
    t.is(await known(), 'efg')
    await close()
  })
}

const onRedis = REDIS_URL ? test : test.skip
onRedis('while Redis does not answer nothing is known or taken: the asker is told', async (t) => {
  const { sets, connections, close } = await open('redis', 3)
  const set = first(sets)
  await set.add('a', 2_000_000)
  connections[0]?.disconnect()
  for (const step of [() => set.has('a'), () => set.take('a'), () => set.add('b', 2_000_000)])
    await t.throwsAsync(step(), { code: 'unavailable' })
  await close().catch(() => {})
})
