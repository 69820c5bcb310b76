import test from 'ava'
import fc from 'fast-check'
import type { Swap } from '../../pipeline/domain/event.ts'
import { compareEventKeys, eventKeyText } from '../../pipeline/domain/event-key.ts'
import { aMarker } from '../../pipeline/testing/a-marker.ts'
import type { FeedPosition } from '../cursor.ts'
import { tradeItem } from '../items/trade.ts'
import { aSwap, BONK, JUP, served } from '../testing/a-swap.ts'
import { startFeedWorld } from '../testing/feed-world.ts'
import { byBlockTime, heldTrades } from '../testing/held-trades.ts'
import { openEmbeddedStore, type TestStore } from '../testing/open-stores.ts'
import { textOfFrame } from './frame.ts'

let opened: TestStore
test.before(async () => {
  opened = await openEmbeddedStore()
})
test.after.always(() => opened.remove())

interface Message {
  readonly type?: string
  readonly trade_id: string
  readonly data: { readonly block_time: number }
}

const aTrade = fc.record({
  txIndex: fc.nat(3),
  wallet: fc.integer({ min: 1, max: 4 }),
  mint: fc.constantFrom(BONK, JUP),
})
type Trade = Readonly<{ txIndex: number; wallet: number; mint: typeof BONK }>
const someTrades = fc.uniqueArray(aTrade, {
  maxLength: 6,
  selector: ({ txIndex, wallet }) => `${txIndex}/${wallet}`,
})
const kind = <K extends string>(name: K) => fc.constant(name)
const aStep = fc.oneof(
  { weight: 8, arbitrary: fc.record({ kind: kind('slot'), trades: someTrades }) },
  { weight: 4, arbitrary: fc.record({ kind: kind('late'), slotsAgo: fc.nat(6), trade: aTrade }) },
  {
    weight: 3,
    arbitrary: fc.record({ kind: kind('withdraw'), slotsAgo: fc.nat(6), trades: someTrades }),
  },
  { weight: 2, arbitrary: fc.record({ kind: kind('storage'), isPaused: fc.boolean() }) },
  {
    weight: 2,
    arbitrary: fc.record({ kind: kind('relay'), process: fc.nat(1), isPaused: fc.boolean() }),
  },
  {
    weight: 8,
    arbitrary: fc.record({
      kind: kind('call'),
      agent: fc.nat(2),
      process: fc.nat(1),
      isLost: fc.boolean(),
    }),
  },
)

/** What each agent follows, how many messages a call, and which trades match. */
const AGENTS = [
  { filter: { wallets: null, mints: null }, most: 1, wants: () => true },
  { filter: { wallets: null, mints: null }, most: 100, wants: () => true },
  {
    filter: { wallets: new Set([1, 3]), mints: null },
    most: 2,
    wants: (swap: Swap) => swap.wallet === 1 || swap.wallet === 3,
  },
]

let worlds = 0
let times = 1_000_000
test('calls with the cursor of the previous one, to any process, get every matching trade once and end with none that was withdrawn (rules F4, K9, M2)', async (t) => {
  await fc.assert(
    fc.asyncProperty(fc.array(aStep, { minLength: 5, maxLength: 50 }), async (steps) => {
      const world = await startFeedWorld(opened.store, ++worlds)
      const { log } = world
      await world.addFeed()
      await world.addFeed()
      let slot = world.slot
      const slots: number[] = []
      const all: { swap: Swap; isWithdrawn?: true }[] = []
      const blocks = new Map<number, bigint>()
      const known = new Set<string>()
      // The block time identifies the trade.
      const make = (at: number, { txIndex, wallet, mint }: Trade) => {
        const swap = aSwap({ slot: at, txIndex, wallet, baseMint: mint, blockTime: times++ })
        known.add(eventKeyText(swap))
        all.push({ swap })
        return swap
      }
      const append = async (trades: readonly Trade[]) => {
        const parent = slot++
        slots.push(slot)
        const records = trades.map((trade) => make(slot, trade)).sort(compareEventKeys)
        await log.appendSlot({ marker: { ...aMarker(slot, parent), blockTime: times }, records })
      }
      const agents = AGENTS.map((agent) => ({
        ...agent,
        after: null as FeedPosition | null,
        got: [] as Message[],
      }))
      const call = async (
        agent: (typeof agents)[number],
        process: number,
        { waitMs = 0, isLost = false } = {},
      ) => {
        const followed = await world.feeds[process]!.feed.follow({
          key: { account: 'alice', kind: 'own' },
          filter: agent.filter,
          after: agent.after,
          most: agent.most,
          waitMs,
          signal: new AbortController().signal,
        })
        if (isLost && agent.after !== null) return
        agent.after = followed.end
        for (const { frame } of followed.steps) agent.got.push(JSON.parse(textOfFrame(frame!)))
      }
      for (const agent of agents) await call(agent, 0)

      for (const step of steps) {
        if (step.kind === 'slot') await append(step.trades)
        else if (step.kind === 'late') {
          const at = slots.at(-1 - step.slotsAgo)
          const { txIndex, wallet } = step.trade
          if (at === undefined) continue
          const key = { slot: at, txIndex, wallet, eventIndex: 0 }
          if (known.has(eventKeyText(key))) continue
          await log.appendLate([make(at, step.trade)], 'stream', blocks.get(at) ?? null)
        } else if (step.kind === 'withdraw') {
          const at = slots.at(-1 - step.slotsAgo)
          if (at === undefined) continue
          await log.appendWithdrawal({ slot: at, blockId: null, solPrice: null, rewind: null })
          for (const one of all) if (one.swap.slot === at) one.isWithdrawn = true
          for (const key of known) if (key.startsWith(`${at}/`)) known.delete(key)
          const blockId = (blocks.get(at) ?? 0n) + 1n
          blocks.set(at, blockId)
          const swaps = step.trades.map((trade) => make(at, trade))
          await log.appendLate(swaps, 'stream', blockId)
        } else if (step.kind === 'storage') {
          if (step.isPaused) world.storage.pause()
          else world.storage.resume()
        } else if (step.kind === 'relay') {
          const gate = world.relays[step.process]
          if (step.isPaused) gate?.pause()
          else gate?.resume()
        } else await call(agents[step.agent]!, step.process, step)
      }

      world.resume()
      await append([1, 3].map((wallet) => ({ txIndex: 0, wallet, mint: BONK })))
      for (const [at, agent] of agents.entries()) {
        const end = all.findLast(({ swap }) => agent.wants(swap))?.swap.blockTime
        const isThere = () => agent.got.some(({ data }) => data?.block_time === end)
        while (!isThere()) await call(agent, at % 2, { waitMs: 5000 })
        const { held, repeated } = heldTrades(agent.got)
        t.deepEqual(repeated, [], 'no trade is sent twice')
        const expected = all.flatMap(({ swap, isWithdrawn }) =>
          agent.wants(swap) && !isWithdrawn ? [tradeItem(served(swap))] : [],
        )
        t.deepEqual(held, byBlockTime(expected) as Message['data'][])
      }
      await world.settled(slot)
      await world.close()
    }),
    { numRuns: 12 },
  )
})
