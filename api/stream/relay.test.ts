import test from 'ava'
import { pino } from 'pino'
import type { Swap } from '../../pipeline/domain/event.ts'
import { compareEventKeys, type EventKey } from '../../pipeline/domain/event-key.ts'
import { serveSwap } from '../../pipeline/domain/perturbation.ts'
import type { EventLog } from '../../pipeline/log/log.ts'
import { createMemoryLog } from '../../pipeline/log/memory.ts'
import { createRegistry } from '../../pipeline/runtime/telemetry.ts'
import { aMarker } from '../../pipeline/testing/a-marker.ts'
import {
  BEGINNING,
  createCursorCodec,
  endOfSlot,
  type LatePosition,
  lateBefore,
} from '../cursor.ts'
import { type PublishedSwap, tradeItem } from '../items/trade.ts'
import { aSwap, served } from '../testing/a-swap.ts'
import { cursorKeys } from '../testing/cursor-keys.ts'
import { handLog } from '../testing/hand-log.ts'
import { catchUpSteps } from './catch-up-steps.ts'
import type { RelayPosition } from './entry-renderer.ts'
import { createRelay, type Relay, type RelayOptions } from './relay.ts'
import { createFeedMetrics } from './telemetry.ts'
import type { FeedEntry } from './trade-window.ts'

const cursors = createCursorCodec(cursorKeys(1))
const logger = pino({ level: 'silent' })
const newLog = () => createMemoryLog({ logger, registry: createRegistry() }, { epoch: 0 })
const render = (swap: PublishedSwap & EventKey) => JSON.stringify(tradeItem(serveSwap(swap, null)))
const history = {
  marker: async () => null,
  cameBefore: async () => new Set<string>(),
}
const startRelay = (log: EventLog, options: RelayOptions = {}) =>
  createRelay(
    { log, cursors, history, render, logger, metrics: createFeedMetrics(createRegistry()) },
    options,
  )
const at = (slot: number, txIndex = 0, wallet = 1) => aSwap({ slot, txIndex, wallet })
const slotOf = (slot: number, ...records: Swap[]) => after(slot - 1, slot, ...records)
const after = (parent: number, slot: number, ...records: Swap[]) => ({
  marker: aMarker(slot, parent),
  records: records.sort(compareEventKeys),
})
const message = (swap: Swap) => ({
  channel: 'trades',
  id: cursors.encode('trades', swap, lateBefore(0, swap.slot)),
  trade_id: cursors.tradeId(swap, null),
  data: tradeItem(served(swap)),
})
/** The message of a frame as long as those of one trade. */
const read = (frame: Buffer): unknown => JSON.parse(frame.toString('utf8', 4))
/** Returns the messages that a client resuming from `key` receives. */
const sinceThen = (relay: Relay, key = BEGINNING) =>
  [...catchUpSteps(relay, { key, late: null }, { wallets: null, mints: null })].flatMap(
    ({ frame }) => (frame === null ? [] : [read(frame)]),
  )

/** Collects the trades that a relay publishes. */
function listen(relay: Relay) {
  const trades: FeedEntry[] = []
  let check: () => void = () => {}
  const oldWithdrawals: RelayPosition[] = []
  relay.listen({
    onEntries: (some) => {
      trades.push(...some)
      check()
    },
    onOldWithdrawal: (before) => oldWithdrawals.push(before),
  })
  return {
    oldWithdrawals,
    messages: (count: number) =>
      new Promise<unknown[]>((resolve) => {
        check = () => {
          if (trades.length >= count) resolve(trades.map((entry) => read(entry.live)))
        }
        check()
      }),
  }
}

test('trades come out in event-key order, rendered as GET /trades shows them; late ones marked (rules F3, K2)', async (t) => {
  const log = newLog()
  const relay = await startRelay(log)
  t.is(relay.cursor, cursors.encode('trades', BEGINNING, lateBefore(0, 0)))
  t.is(relay.newest, null)
  const out = listen(relay)
  const swaps = [at(10, 0, 1), at(10, 0, 2), at(10, 3, 1), at(12, 0, 5)]
  await log.appendSlot(slotOf(10, ...swaps.slice(0, 3)))
  await log.appendSlot(slotOf(10, ...swaps.slice(0, 3)))
  await log.appendSlot(after(10, 12, swaps[3]!))
  t.deepEqual(await out.messages(4), swaps.map(message))
  t.deepEqual(relay.newest, aMarker(12, 10))
  t.is(relay.cursor, cursors.encode('trades', endOfSlot(12), lateBefore(0, 12)))

  await log.appendLate([at(10, 9), at(10, 0, 1)], 'stream')
  await log.appendLate([at(10, 8)], 'backfill')
  await log.appendSlot(slotOf(13, at(13)))
  // One late swap of its partition, entry 7 there, behind slot 12.
  const one: LatePosition = { epoch: 0, passedSlot: 12, offsets: [[0, 7]] }
  const late = {
    ...message(at(10, 9)),
    late: true,
    id: cursors.encode('trades', endOfSlot(12), one),
  }
  t.deepEqual((await out.messages(6)).slice(4), [late, message(at(13))])
  const now = { epoch: 0, passedSlot: 13, offsets: [] }
  const inPlace = (swap: Swap) => ({ ...message(swap), id: cursors.encode('trades', swap, now) })
  t.deepEqual(sinceThen(relay), [
    ...[...swaps.slice(0, 3), at(10, 9), swaps[3]!].map(inPlace),
    message(at(13)),
  ])
  await relay.close()
})

test('a late trade read together with the slots around it has the position between them', async (t) => {
  const log = handLog()
  const relay = await startRelay(log)
  const out = listen(relay)
  await log.hand([
    { kind: 'record', record: at(5), late: null },
    { kind: 'marker', marker: aMarker(5) },
    { kind: 'record', record: at(5, 1), late: 'stream' },
    { kind: 'record', record: at(6), late: null },
    { kind: 'marker', marker: aMarker(6) },
  ])
  const id = cursors.encode('trades', endOfSlot(5), {
    epoch: 0,
    passedSlot: 5,
    offsets: [[0, 2]],
  })
  t.deepEqual(await out.messages(3), [
    message(at(5)),
    { ...message(at(5, 1)), late: true, id },
    message(at(6)),
  ])
})

test('a starting relay rebuilds its window from the log and publishes none of it', async (t) => {
  const log = newLog()
  await log.appendSlot(slotOf(10, at(10, 0, 1), at(10, 0, 2)))
  await log.appendSlot(slotOf(11))
  const relay = await startRelay(log)
  const out = listen(relay)
  t.deepEqual(sinceThen(relay), [at(10, 0, 1), at(10, 0, 2)].map(message))
  t.is(relay.cursor, cursors.encode('trades', endOfSlot(11), lateBefore(0, 11)))
  await log.appendSlot(slotOf(12, at(12)))
  t.deepEqual(await out.messages(1), [message(at(12))])
  await relay.close()
})

test('if the newest slot of the log is older than the window, the window is empty and later slots are published', async (t) => {
  let now = 1_000_000
  const log = createMemoryLog(
    { logger, registry: createRegistry() },
    { now: () => now, retentionMs: 1e9, epoch: 0 },
  )
  await log.appendSlot(slotOf(10, at(10)))
  now += 400_000
  const relay = await startRelay(log, { quietMs: 1 })
  const out = listen(relay)
  t.is(relay.window.size, 0)
  await log.appendSlot(slotOf(11, at(11)))
  t.deepEqual(await out.messages(1), [message(at(11))])
  t.deepEqual(relay.window.floor, endOfSlot(10))
  await relay.close()
})

test('the window is bounded by age and number, and reports which positions it covers (rule K6)', async (t) => {
  let now = 0
  const log = newLog()
  const relay = await startRelay(log, { now: () => now, windowMs: 1000, windowTrades: 3 })
  const out = listen(relay)
  await log.appendSlot(slotOf(1, at(1, 0), at(1, 1), at(1, 2), at(1, 3)))
  await out.messages(4)
  t.deepEqual(sinceThen(relay), [at(1, 1), at(1, 2), at(1, 3)].map(message))
  t.deepEqual(relay.window.floor, { slot: 1, txIndex: 0, wallet: 1, eventIndex: 0 })
  now = 1001
  await log.appendSlot(slotOf(2, at(2)))
  await out.messages(5)
  t.deepEqual(sinceThen(relay), [message(at(2))])
  await log.appendSlot(slotOf(1, at(1, 3)))
  await log.appendSlot(slotOf(3, at(3)))
  t.deepEqual((await out.messages(6)).slice(5), [message(at(3))])
  await relay.close()
})

test('a withdrawal of trades that are no longer all in memory is left to storage, and nothing waits for it (rule K9)', async (t) => {
  const log = handLog()
  const relay = await startRelay(log, { windowTrades: 1 })
  const out = listen(relay)
  await log.hand([
    { kind: 'record', record: at(1), late: null },
    { kind: 'record', record: at(1, 1), late: null },
    { kind: 'marker', marker: aMarker(1) },
  ])
  const before = relay.position
  await log.hand([
    {
      kind: 'withdrawal',
      withdrawal: { slot: 1, blockId: null, solPrice: null, rewind: null },
    },
    { kind: 'marker', marker: aMarker(2) },
    { kind: 'record', record: at(3), late: null },
    { kind: 'marker', marker: aMarker(3) },
  ])
  t.deepEqual(out.oldWithdrawals, [before])
  t.deepEqual(await out.messages(3), [at(1), at(1, 1), at(3)].map(message))
  t.deepEqual(
    [before, relay.position].map((position) => relay.window.covers(position)),
    [false, true],
  )
  await relay.close()
})

test('at the bound the partitions wait for the slowest one, and no trade is lost', async (t) => {
  const log = handLog(2)
  const relay = await startRelay(log, { maxWaiting: 2 })
  const out = listen(relay)
  await log.hand([
    { kind: 'record', record: at(1), late: null },
    { kind: 'marker', marker: aMarker(1) },
  ])
  let isDone = false
  const waiting = log
    .hand([
      { kind: 'record', record: at(2), late: null },
      { kind: 'marker', marker: aMarker(2) },
    ])
    .then(() => {
      isDone = true
    })
  await log.hand([{ kind: 'record', record: at(1, 1, 2), late: null }], 1)
  t.false(isDone)
  await log.hand([{ kind: 'marker', marker: aMarker(1) }], 1)
  await waiting
  await log.hand([{ kind: 'marker', marker: aMarker(2) }], 1)
  t.deepEqual(await out.messages(3), [at(1), at(1, 1, 2), at(2)].map(message))

  await log.hand([{ kind: 'marker', marker: aMarker(3) }])
  await log.hand([{ kind: 'marker', marker: aMarker(4) }])
  const stuck = log.hand([{ kind: 'marker', marker: aMarker(5) }])
  await relay.close()
  await stuck
})
