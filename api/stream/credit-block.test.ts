import test from 'ava'
import { ServiceError } from '../../pipeline/domain/service-error.ts'
import { createMemoryMeter } from '../credits/memory.ts'
import type { BlockRenewal } from '../credits/meter.ts'
import { leftOf } from '../testing/left-of.ts'
import { blocksOf, fund } from '../testing/start-feed.ts'
import { CreditBlock } from './credit-block.ts'

/** A block of an account's credits; the test controls when renewals resolve. */
async function startBlock(credits: number) {
  const meter = createMemoryMeter()
  await fund(meter, 'alice', credits)
  const blocks = blocksOf(meter)
  const asked: (() => void)[] = []
  const renewals: BlockRenewal[] = []
  const heard: string[] = []
  const clock = { now: 0 }
  let isDown = false
  const block = new CreditBlock(
    {
      source: {
        async renewBlock(account, renewal) {
          renewals.push(renewal)
          if (isDown) throw new ServiceError('unavailable', 'down', { retriable: true })
          await new Promise<void>((resolve) => asked.push(resolve))
          return blocks.renewBlock(account, renewal)
        },
      },
      account: 'alice',
      connection: 'c',
      left: credits,
      hooks: {
        onGranted: (granted) => heard.push(`granted ${granted}`),
        onFailure: (sinceMs) => heard.push(`failing for ${sinceMs}`),
      },
    },
    {
      now: () => clock.now,
      pause: async () => {
        clock.now += 10_000
      },
    },
  )
  const settle = () => new Promise((resolve) => setImmediate(resolve))
  return {
    block,
    meter,
    renewals,
    heard,
    clock,
    settle,
    async answer() {
      await settle()
      asked.shift()?.()
      await settle()
    },
    take: (times: number) => Array.from({ length: times }, () => block.take()),
    down(is: boolean) {
      isDown = is
    },
  }
}

const yes = (times: number) => Array.from({ length: times }, () => true)

test('credits spent during a renewal are covered by the next block: none is spent that is not reserved', async (t) => {
  const { block, meter, answer, take, renewals } = await startBlock(100)
  block.renew()
  await answer()
  t.deepEqual(take(16), yes(16))
  t.is((await meter.charge('alice', 84, 'everything else')).kind, 'charged')
  await answer()
  t.deepEqual([block.credits, block.take()], [0, false])
  await answer()
  t.deepEqual(
    renewals.map(({ sequence, spent, wanted }) => [sequence, spent, wanted]),
    [
      [1, 0, 16],
      [2, 8, 23],
      [3, 8, 1],
    ],
  )
  t.is(await leftOf(meter, 'alice'), 0)
})

test('a renewal never requests a block smaller than the unspent rest', async (t) => {
  const { block, meter, answer, take } = await startBlock(100)
  block.renew()
  await answer()
  await meter.charge('alice', 84, 'everything else')
  take(8)
  await answer()
  t.deepEqual([block.credits, block.balance], [8, 8])
  t.deepEqual(take(8), yes(8))
  await answer()
  t.is(await leftOf(meter, 'alice'), 0)
  await Promise.all([block.close(), answer()])
  t.is(await leftOf(meter, 'alice'), 0)
})

test('a failed renewal is retried unchanged; spent credits that cannot be booked in time are dropped', async (t) => {
  const { block, meter, answer, take, down, renewals, heard, settle, clock } = await startBlock(100)
  block.renew()
  await answer()
  down(true)
  t.deepEqual(take(10), yes(10))
  await settle()
  t.deepEqual(
    heard.slice(1),
    [0, 10, 20, 30, 40, 50].map((seconds) => `failing for ${seconds * 1000}`),
  )
  t.is(clock.now, 60_000)
  t.deepEqual([block.credits, block.take()], [0, false], 'the meter may have given the block away')
  t.deepEqual(
    renewals.slice(1, 8).map(({ sequence, spent }) => [sequence, spent]),
    Array.from({ length: 7 }, () => [2, 8]),
  )
  down(false)
  for (let i = 0; i < 3; i++) await answer()
  t.true(block.credits > 0)
  const closing = block.close()
  for (let i = 0; i < 3; i++) await answer()
  await closing
  t.is(await leftOf(meter, 'alice'), 98, 'what had not been asked for is booked')
})

test('a kept block is renewed before the meter releases it, and unspent credits are returned on close', async (t) => {
  const { block, meter, answer, take, clock, renewals } = await startBlock(100)
  block.keep()
  t.is(renewals.length, 0)
  block.renew()
  await answer()
  take(3)
  block.keep()
  t.is(renewals.length, 1)
  clock.now = 30_000
  block.keep()
  await answer()
  t.deepEqual(renewals[1], { connection: 'c', sequence: 2, spent: 3, wanted: 16 })
  t.is(await leftOf(meter, 'alice'), 97 - 16)
  const closing = block.close()
  await answer()
  await closing
  await block.close()
  t.is(await leftOf(meter, 'alice'), 97)
  t.is(renewals.length, 3)
})

test('a block doubles while half of it is spent within ten seconds, and halves when it lasts longer than thirty', async (t) => {
  const { block, answer, take, clock, renewals } = await startBlock(1000)
  block.renew()
  await answer()
  for (const [trades, seconds] of [
    [8, 8],
    [16, 16],
    [16, 31],
    [8, 31],
  ] as const) {
    clock.now += seconds * 1000
    take(trades)
    await answer()
  }
  t.deepEqual(
    renewals.map(({ wanted }) => wanted),
    [16, 32, 32, 16, 16],
  )
})
