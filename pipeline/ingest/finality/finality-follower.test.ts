import { setTimeout as pause } from 'node:timers/promises'
import test from 'ava'
import { createLogger } from '../../runtime/logger.ts'
import { createRegistry } from '../../runtime/telemetry.ts'
import type { RpcBlock } from '../rpc/solana-rpc.ts'
import type { OpenUpdateStream } from '../stream/yellowstone.ts'
import { createIngestMetrics } from '../telemetry.ts'
import { FinalityFollower, type FinalityStart } from './finality-follower.ts'
import type { ChainBlock } from './finality-tracker.ts'

const LIMITS = {
  finalityIdleMs: 1,
  finalityPatienceMs: 1,
  replacementMs: 60_000,
  refusalMs: 1000,
  pingMs: 1000,
  backoffMs: 1,
  maxBackoffMs: 2,
}
const block = (slot: number, parent = slot - 1, id = slot): ChainBlock => ({
  slot,
  parent,
  blockId: BigInt(id),
})

/**
 * Follows a finalized chain that only RPC has. `missing`: blocks that RPC does not have either.
 * `beforeBlock` is awaited before RPC gives a block.
 */
function follow(
  final: readonly ChainBlock[],
  missing: readonly number[] = [],
  start: Pick<FinalityStart, 'sealed' | 'withdrawn'> = { sealed: [], withdrawn: new Set() },
  {
    beforeBlock = async () => {},
    replacementMs = LIMITS.replacementMs,
  }: { beforeBlock?: (outcome: readonly string[]) => Promise<void>; replacementMs?: number } = {},
) {
  const stop = new AbortController()
  const metrics = createIngestMetrics(createRegistry())
  const outcome: string[] = []
  let opened = 0
  const open: OpenUpdateStream = async () => {
    opened += 1
    return { kind: 'failed', message: 'no second subscription' }
  }
  const follower = new FinalityFollower(
    { finalized: 10, ...start },
    {
      endpoint: 'http://fake',
      xToken: null,
      open,
      history: {
        finalHeads: async (from, to) => ({
          heads: final.filter(({ slot }) => slot >= from && slot <= to),
          end: Math.min(to, final.at(-1)?.slot ?? 0),
        }),
        async finalBlock(slot) {
          await beforeBlock(outcome)
          const head = final.find((one) => one.slot === slot)
          if (missing.includes(slot) || head === undefined) return null
          return { ...head, blockTime: 5, transactions: [] } satisfies RpcBlock
        },
      },
      onWithdrawn: ({ slot }) => outcome.push(`withdrawn ${slot} at ${follower.finalized}`),
      onMissing: ({ slot }) => outcome.push(`added ${slot} at ${follower.finalized}`),
      onBug: (error) => outcome.push(String(error)),
      logger: createLogger('silent'),
      metrics,
      stop: stop.signal,
    },
    { ...LIMITS, replacementMs },
  )
  return {
    follower,
    outcome,
    unverified: async () => (await metrics.unverifiedSlots.get()).values[0]?.value ?? 0,
    /** Lets the follower work until it has compared this slot. */
    async until(slot: number) {
      const run = follower.run()
      while (follower.finalized !== slot || opened < 2) {
        follower.tick()
        await pause(1)
      }
      stop.abort()
      await run
    },
  }
}

test('without a subscription to finalized blocks RPC is asked for them (rule K9)', async (t) => {
  const { follower, outcome, until } = follow([block(11), block(13, 11, 99), block(14)])
  for (const slot of [11, 12, 13, 14, 15]) follower.onSealed(block(slot))
  await until(14)
  t.deepEqual(outcome, ['withdrawn 12 at 11', 'withdrawn 13 at 11', 'added 13 at 11'])
})

test('a slot is withdrawn once the block that replaces it is read, and not before (rule K9)', async (t) => {
  const seen: string[][] = []
  const beforeBlock = async (outcome: readonly string[]) => {
    await pause(20)
    seen.push([...outcome])
  }
  const final = [block(11), block(13, 11, 99), block(14)]
  const { follower, outcome, until } = follow(final, [], undefined, { beforeBlock })
  for (const slot of [11, 12, 13, 14]) follower.onSealed(block(slot))
  await until(14)
  t.deepEqual(seen, [[]])
  t.deepEqual(outcome, ['withdrawn 12 at 11', 'withdrawn 13 at 11', 'added 13 at 11'])
})

test('a slot is withdrawn without the block that replaces it when RPC takes too long (rule K9)', async (t) => {
  const beforeBlock = async (outcome: readonly string[]) => {
    while (outcome.length === 0) await pause(1)
  }
  const limits = { beforeBlock, replacementMs: 5 }
  const { follower, outcome, until } = follow([block(11, 10, 99)], [], undefined, limits)
  follower.onSealed(block(11))
  await until(11)
  t.deepEqual(outcome, ['withdrawn 11 at 10', 'added 11 at 10'])
})

test('finality does not pass a withdrawn slot before its finalized block is there, or given up', async (t) => {
  const { follower, outcome, until } = follow([block(11, 10, 98), block(12, 11, 99)], [12])
  for (const slot of [11, 12]) follower.onSealed(block(slot))
  await until(12)
  t.deepEqual(outcome, ['withdrawn 11 at 10', 'added 11 at 10', 'withdrawn 12 at 11'])
})

test('a restart after a withdrawal fetches the finalized block, and withdraws nothing again (rule K9)', async (t) => {
  const { outcome, until } = follow([block(11), block(12, 11, 99), block(13, 12, 98)], [], {
    sealed: [block(11), block(12), block(13)],
    withdrawn: new Set([12]),
  })
  await until(13)
  t.deepEqual(outcome, ['added 12 at 11', 'withdrawn 13 at 12', 'added 13 at 12'])
})

test('slots that are not compared are counted: the oldest of too many, and those whose hash is not known', async (t) => {
  const sealed = Array.from({ length: 65_537 }, (_, at) => block(11 + at))
  const start = { sealed, withdrawn: new Set<number>() }
  const { unverified, until } = follow([block(12), { ...block(13), blockId: null }], [], start)
  t.is(await unverified(), 1)
  await until(13)
  t.is(await unverified(), 2)
})
