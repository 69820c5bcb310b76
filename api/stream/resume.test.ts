import test from 'ava'
import fc from 'fast-check'
import type { Swap } from '../../pipeline/domain/event.ts'
import { compareEventKeys, type EventKey, eventKeyText } from '../../pipeline/domain/event-key.ts'
import { aMarker } from '../../pipeline/testing/a-marker.ts'
import { lateBefore } from '../cursor.ts'
import { tradeItem } from '../items/trade.ts'
import { aSwap, BONK, JUP, served } from '../testing/a-swap.ts'
import { startFeedWorld } from '../testing/feed-world.ts'
import { byBlockTime, heldTrades } from '../testing/held-trades.ts'
import { openEmbeddedStore, type TestStore } from '../testing/open-stores.ts'
import { connect, type FeedClient } from '../testing/start-feed.ts'

let opened: TestStore
test.before(async () => {
  opened = await openEmbeddedStore()
})
test.after.always(() => opened.remove())

const WALLETS = 4

interface Message {
  readonly type?: string
  readonly channel?: string
  readonly id: string
  readonly trade_id: string
  readonly late?: true
  readonly data: { readonly block_time: number }
}

type Step =
  | { readonly kind: 'slot'; readonly skipped: number; readonly trades: readonly Trade[] }
  | { readonly kind: 'late' | 'backfill'; readonly slotsAgo: number; readonly trade: Trade }
  /** A slot is withdrawn, and the finalized chain has other trades there. */
  | { readonly kind: 'withdraw'; readonly slotsAgo: number; readonly trades: readonly Trade[] }
  | { readonly kind: 'storage'; readonly isPaused: boolean }
  /** A process stops reading the log, so that storage and other processes are ahead of it. */
  | { readonly kind: 'relay'; readonly process: number; readonly isPaused: boolean }
  | { readonly kind: 'process' }
  | { readonly kind: 'cut'; readonly client: number }
  | { readonly kind: 'come back'; readonly client: number; readonly to: number }
  /** A client that has lost the last messages goes on at another process. */
  | {
      readonly kind: 'move'
      readonly client: number
      readonly lost: number
      readonly to: number
    }
  /** A new client that has read `GET /trades` follows from its `X-Head-Cursor`. */
  | { readonly kind: 'from REST'; readonly to: number }
interface Trade {
  readonly txIndex: number
  readonly wallet: number
  readonly mint: typeof BONK
}

const aTrade = fc.record({
  txIndex: fc.nat(3),
  wallet: fc.integer({ min: 1, max: WALLETS }),
  mint: fc.constantFrom(BONK, JUP),
})
const someTrades = fc.uniqueArray(aTrade, {
  maxLength: 6,
  selector: ({ txIndex, wallet }) => `${txIndex}/${wallet}`,
})
const client = fc.nat(2)
const to = fc.nat(5)
const kind = <K extends Step['kind']>(name: K) => fc.constant(name)
const aStep: fc.Arbitrary<Step> = fc.oneof(
  {
    weight: 8,
    arbitrary: fc.record({ kind: kind('slot'), skipped: fc.nat(2), trades: someTrades }),
  },
  { weight: 5, arbitrary: fc.record({ kind: kind('late'), slotsAgo: fc.nat(6), trade: aTrade }) },
  {
    weight: 1,
    arbitrary: fc.record({ kind: kind('backfill'), slotsAgo: fc.nat(6), trade: aTrade }),
  },
  {
    weight: 2,
    arbitrary: fc.record({ kind: kind('withdraw'), slotsAgo: fc.nat(6), trades: someTrades }),
  },
  { weight: 2, arbitrary: fc.record({ kind: kind('storage'), isPaused: fc.boolean() }) },
  {
    weight: 3,
    arbitrary: fc.record({ kind: kind('relay'), process: fc.nat(3), isPaused: fc.boolean() }),
  },
  { weight: 1, arbitrary: fc.record({ kind: kind('process') }) },
  { weight: 3, arbitrary: fc.record({ kind: kind('cut'), client }) },
  { weight: 5, arbitrary: fc.record({ kind: kind('come back'), client, to }) },
  { weight: 5, arbitrary: fc.record({ kind: kind('move'), client, lost: fc.nat(5), to }) },
  { weight: 1, arbitrary: fc.record({ kind: kind('from REST'), to }) },
)

/** Subscription filters, each with a predicate of the trades that match it. */
const FILTERS = [
  { filter: {}, wants: () => true },
  { filter: { wallets: ['W1', 'W3'] }, wants: (s: Swap) => s.wallet === 1 || s.wallet === 3 },
  { filter: { mints: [JUP] }, wants: (s: Swap) => s.baseMint === JUP },
]

let worlds = 0
let times = 1_000_000
test('a client that reconnects at any time to any process gets every matching trade once, in order except late ones, and ends with none that was withdrawn (rules F3, F4, K9)', async (t) => {
  await fc.assert(
    fc.asyncProperty(fc.array(aStep, { minLength: 5, maxLength: 50 }), async (steps) => {
      const world = await startFeedWorld(opened.store, ++worlds)
      const { log } = world
      await world.addFeed()
      await world.addFeed()
      let slot = world.slot
      const slots: number[] = []
      const all: { swap: Swap; passedSlot: number | null; isWithdrawn?: true }[] = []
      /** The block of each slot that was withdrawn. */
      const blocks = new Map<number, bigint>()
      const known = new Set<string>()
      // The block time identifies the trade.
      const make = (at: number, { txIndex, wallet, mint }: Trade) =>
        aSwap({ slot: at, txIndex, wallet, baseMint: mint, blockTime: times++ })
      const append = async (skipped: number, swaps: readonly Swap[]) => {
        const parent = slot
        await log.appendSlot({
          marker: { ...aMarker(swaps[0]?.slot ?? slot + 1 + skipped, parent), blockTime: times },
          records: [...swaps].sort(compareEventKeys),
        })
        slot = swaps[0]?.slot ?? slot + 1 + skipped
        slots.push(slot)
      }

      interface Client {
        readonly wants: (swap: Swap) => boolean
        readonly filter: object
        readonly had: ReadonlySet<number>
        readonly got: Message[]
        after: string | undefined
        socket: FeedClient | null
      }
      const clients: Client[] = []
      const follow = async (one: Client, process: number) => {
        const feed = world.feeds[process % world.feeds.length]!
        const socket = await connect(`ws://127.0.0.1:${feed.port}/ws`, 'alice')
        one.socket = socket
        const { after } = one
        const answer = await socket.subscribe({ ...one.filter, ...(after && { after }) })
        one.after ??= (answer as { cursor: string }).cursor
      }
      /** Disconnects the client and checks the order of the trades it had received. */
      const cut = (one: Client, lost = 0) => {
        const received = (one.socket?.received.splice(0) ?? []) as Message[]
        const messages = received.slice(0, Math.max(0, received.length - lost))
        one.socket?.socket.terminate()
        one.socket = null
        const trades = messages.filter(({ channel }) => channel === 'trades')
        t.deepEqual(
          messages.filter(({ channel, type }) => channel === undefined && type !== 'retracted'),
          [],
        )
        one.got.push(...messages)
        one.after = messages.at(-1)?.id ?? one.after
        const keys = trades.flatMap(({ late, data }) => {
          const found = all.find(({ swap }) => swap.blockTime === data.block_time)
          if (late) t.not(found?.passedSlot, null, 'only a late trade is marked')
          return late || found === undefined ? [] : [found.swap]
        })
        t.deepEqual(
          keys.map(({ blockTime }) => blockTime),
          [...keys].sort(compareEventKeys).map(({ blockTime }) => blockTime),
          'in order',
        )
      }
      for (const { filter, wants } of FILTERS) {
        const one: Client = {
          filter,
          wants,
          had: new Set(),
          got: [],
          after: undefined,
          socket: null,
        }
        clients.push(one)
        await follow(one, clients.length)
      }

      for (const step of steps) {
        if (step.kind === 'slot') {
          const at = slot + 1 + step.skipped
          const swaps = step.trades.map((trade) => make(at, trade))
          for (const swap of swaps) {
            known.add(eventKeyText(swap))
            all.push({ swap, passedSlot: null })
          }
          await append(step.skipped, swaps)
        } else if (step.kind === 'late' || step.kind === 'backfill') {
          const at = slots.at(-1 - step.slotsAgo) ?? slots[0]
          if (at === undefined) continue
          const swap = make(at, step.trade)
          if (known.has(eventKeyText(swap))) continue
          known.add(eventKeyText(swap))
          const origin = step.kind === 'late' ? 'stream' : 'backfill'
          if (origin === 'stream') all.push({ swap, passedSlot: slot })
          await log.appendLate([swap], origin, blocks.get(at) ?? null)
        } else if (step.kind === 'withdraw') {
          const at = slots.at(-1 - step.slotsAgo)
          if (at === undefined) continue
          await log.appendWithdrawal({ slot: at, blockId: null, solPrice: null, rewind: null })
          for (const one of all) if (one.swap.slot === at) one.isWithdrawn = true
          for (const key of known) if (key.startsWith(`${at}/`)) known.delete(key)
          const swaps = step.trades.map((trade) => make(at, trade))
          for (const swap of swaps) {
            known.add(eventKeyText(swap))
            all.push({ swap, passedSlot: slot })
          }
          const blockId = (blocks.get(at) ?? 0n) + 1n
          blocks.set(at, blockId)
          await log.appendLate(swaps, 'stream', blockId)
        } else if (step.kind === 'storage') {
          if (step.isPaused) world.storage.pause()
          else world.storage.resume()
        } else if (step.kind === 'relay') {
          const gate = world.relays[step.process]
          if (step.isPaused) gate?.pause()
          else gate?.resume()
        } else if (step.kind === 'process') {
          if (world.feeds.length < 4) await world.addFeed()
        } else if (step.kind === 'cut') {
          const one = clients[step.client]
          if (one) cut(one)
        } else if (step.kind === 'come back') {
          const one = clients[step.client]
          if (one && one.socket === null) await follow(one, step.to)
        } else if (step.kind === 'move') {
          const one = clients[step.client]
          if (!one) continue
          if (one.socket === null) await follow(one, step.to)
          const { received, fence } = one.socket!
          received.unshift(...received.splice(0), ...(await fence()))
          cut(one, step.lost)
          await follow(one, step.to + 1)
        } else if (step.kind === 'from REST') {
          const stored = world.stored()
          if (stored === null || stored.slot <= world.slot || clients.length > 6) continue
          // The trades that REST serves as of the newest stored slot. A late trade counts if it
          // came after a slot lower than that.
          const had = all.filter(
            ({ swap, passedSlot }) =>
              swap.slot <= stored.slot && (passedSlot === null || passedSlot < stored.slot),
          )
          const head = had
            .map(({ swap }) => swap)
            .sort(compareEventKeys)
            .at(-1)
          const key: EventKey = head ?? { slot: world.slot, txIndex: 0, wallet: 0, eventIndex: 0 }
          const one: Client = {
            filter: {},
            wants: () => true,
            got: [],
            socket: null,
            had: new Set(had.map(({ swap }) => swap.blockTime)),
            after: world.feeds[0]!.cursors.encode('trades', key, lateBefore(worlds, stored.slot)),
          }
          clients.push(one)
          await follow(one, step.to)
        }
      }

      world.resume()
      const last = [1, 3].flatMap((wallet) => [
        make(slot + 1, { txIndex: 0, wallet, mint: BONK }),
        make(slot + 1, { txIndex: 1, wallet, mint: JUP }),
      ])
      all.push(...last.map((swap) => ({ swap, passedSlot: null })))
      await append(0, last)
      for (const [at, one] of clients.entries()) {
        if (at % 2 === 0 && one.socket !== null) cut(one)
        if (one.socket === null) await follow(one, at)
        const end = last.filter(one.wants).at(-1)!.blockTime
        const isThere = () =>
          [...one.got, ...(one.socket!.received as Message[])].some(
            (message) => message.data?.block_time === end,
          )
        while (!isThere()) await one.socket!.more()
        t.deepEqual(await one.socket!.fence(true), [])
        cut(one)
        const expected = all.flatMap(({ swap, isWithdrawn }) =>
          one.wants(swap) && !isWithdrawn && !one.had.has(swap.blockTime)
            ? [tradeItem(served(swap))]
            : [],
        )
        const { held, repeated } = heldTrades(one.got)
        t.deepEqual(repeated, [], 'no trade is sent twice')
        t.deepEqual(held, byBlockTime(expected) as Message['data'][])
      }
      await world.settled(slot)
      await world.close()
    }),
    { numRuns: 30 },
  )
})
