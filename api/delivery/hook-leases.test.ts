import { randomUUID } from 'node:crypto'
import test from 'ava'
import { createLogger } from '../../pipeline/runtime/logger.ts'
import { connectRedis } from '../redis-connection.ts'
import { ALONE, createHookLeases, PARTS, partOf } from './hook-leases.ts'

/* Which process runs which webhooks (rule M1). */

const { REDIS_URL } = process.env
const onRedis = REDIS_URL ? test : test.skip
const logger = createLogger('silent')

/** Leases of some processes, each with its connection. */
async function open(count: number, heldMs: number) {
  const prefix = `tw:{test:${randomUUID()}}:`
  const connections = await Promise.all(
    Array.from({ length: count }, () => connectRedis(new URL(REDIS_URL ?? ''), logger)),
  )
  return {
    all: connections.map((redis) => createHookLeases(redis, heldMs, prefix)),
    async close() {
      const [redis] = connections
      const keys = Array.from({ length: PARTS }, (_, part) => `${prefix}part:${part}`)
      await redis?.del(`${prefix}processes`, ...keys)
      for (const one of connections) one.disconnect()
    },
  }
}
const numbers = (parts: Iterable<number>) => [...parts].sort((a, b) => a - b)
const EVERY = Array.from({ length: PARTS }, (_, part) => part)

test('the only process has every part, and each webhook is in one', async (t) => {
  await ALONE.renew()
  t.deepEqual(numbers(ALONE.held()), EVERY)
  for (let round = 0; round < 1000; round++) t.true(ALONE.held().has(partOf(randomUUID())))
})

onRedis(
  'processes share the parts equally, each part has one, and those of one that leaves go to others',
  async (t) => {
    const { all, close } = await open(3, 60_000)
    const [first, second, third] = all
    if (!first || !second || !third) throw new Error('three are open')
    await first.renew()
    t.deepEqual(numbers(first.held()), EVERY)
    await second.renew()
    await first.renew()
    t.deepEqual(numbers(second.held()), [], 'every part is taken')
    t.is(first.surplus(), PARTS / 2)
    for (const part of [...first.held()].slice(0, first.surplus())) await first.release(part)
    await second.renew()
    t.is(second.held().size, PARTS / 2)
    t.deepEqual(numbers([...first.held(), ...second.held()]), EVERY)
    await first.close()
    await third.renew()
    t.deepEqual(numbers([...second.held(), ...third.held()]), EVERY)
    await close()
  },
)

onRedis(
  'a process that no longer renews knows that it has lost its parts before another one has them',
  async (t) => {
    const { all, close } = await open(2, 300)
    const [first, second] = all
    if (!first || !second) throw new Error('two are open')
    await first.renew()
    while (second.held().size < PARTS) {
      await second.renew()
      if (second.held().size > 0) t.deepEqual(numbers(first.held()), [])
    }
    t.deepEqual(numbers(second.held()), EVERY)
    await close()
  },
)
