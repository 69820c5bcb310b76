import { isDeepStrictEqual } from 'node:util'
import test from 'ava'
import { ALL_TROUBLE } from '../../../infra/simulator/options.ts'
import { type Simulator, startSimulator } from '../../../infra/simulator/simulator.ts'
import { createDecoder } from '../../decode/decoder.ts'
import { blockIdOf } from '../../domain/block-id.ts'
import type { KeptTransaction } from '../../domain/event.ts'
import { ServiceError } from '../../domain/service-error.ts'
import {
  LIVE_START,
  type SlotRecords,
  type SolPrice,
  type WalletRecord,
  type Withdrawal,
} from '../../domain/slot.ts'
import { createWallets } from '../../domain/wallets.ts'
import { createRpc } from '../../ingest/rpc/rpc.ts'
import { createIngestMetrics } from '../../ingest/telemetry.ts'
import { normalize } from '../../ingest/wire/raw-transaction.ts'
import type { EventLog } from '../../log/log.ts'
import type { LateOrigin } from '../../log/log-message.ts'
import { createRegistry } from '../../runtime/telemetry.ts'
import { aMarker } from '../../testing/a-marker.ts'
import { startTestIngest } from '../../testing/start-test-ingest.ts'
import type { IngestDeps } from './ingest.ts'

const START = 405_000_000

/** Returns a log that records what is appended. */
function recordingLog() {
  const slots: SlotRecords[] = []
  const late: { records: readonly WalletRecord[]; origin: LateOrigin }[] = []
  const kept: KeptTransaction[] = []
  const withdrawals: Withdrawal[] = []
  /** Transaction bytes are kept apart, because the market does not predict them. */
  const others = (records: readonly WalletRecord[]) =>
    records.filter((record) => {
      if (record.kind === 'kept') kept.push(record)
      return record.kind !== 'kept'
    })
  let wake: () => void = () => {}
  const log: Pick<EventLog, 'appendSlot' | 'appendLate' | 'appendWithdrawal' | 'appendedBlocks'> = {
    appendedBlocks: async () => [],
    async appendSlot(slot) {
      slots.push({ ...slot, records: others(slot.records) })
      wake()
    },
    async appendLate(records, origin) {
      late.push({ records: others(records), origin })
      wake()
    },
    async appendWithdrawal(withdrawal) {
      withdrawals.push(withdrawal)
    },
  }
  return {
    log: log as EventLog, // all that ingest uses
    slots,
    late,
    kept,
    withdrawals,
    async until(done: () => boolean): Promise<void> {
      while (!done()) {
        await new Promise<void>((resolve) => {
          wake = resolve
        })
      }
    },
  }
}

/** Starts the service's ingest on a simulator, from slot `head`. */
function ingestOf(
  simulator: Simulator,
  log: EventLog,
  head: number | null,
  options: Partial<IngestDeps> = {},
) {
  return startTestIngest(simulator, log, {
    resumePoint: async () => ({
      ...LIVE_START,
      checkpoint: head === null ? null : markerOf(simulator, head),
    }),
    ...options,
  })
}

/** The marker of a slot, at its time in the market. */
const markerOf = (simulator: Simulator, slot: number) => ({
  ...aMarker(slot),
  blockTime: simulator.market.timeOf(slot),
})

/**
 * Returns the records that the market intended in a slot, and those on the log, both without
 * prices, which are the pool's.
 */
const meant = (simulator: Simulator, slot: number) => inOrder(simulator.truth(slot).records)
const inOrder = (records: readonly WalletRecord[]) =>
  records
    .map((record) => (record.kind === 'swap' ? { ...record, solPriceUsdE9: null } : record))
    .sort(
      (a, b) =>
        a.slot - b.slot ||
        a.txIndex - b.txIndex ||
        a.wallet - b.wallet ||
        ('eventIndex' in a ? a.eventIndex : 99) - ('eventIndex' in b ? b.eventIndex : 99) ||
        (keyOf(a) < keyOf(b) ? -1 : 1),
    )

/** Returns the slots with a block, from RPC. */
async function producedSlots(simulator: Simulator, from: number, to: number): Promise<number[]> {
  const rpc = createRpc({ url: simulator.rpcUrl, metrics: createIngestMetrics(createRegistry()) })
  return rpc.getBlocks(from, to)
}

test.serial(
  'every slot of the chain reaches the log in order, with exactly the records that the market intended',
  async (t) => {
    const simulator = await startSimulator({ clock: { kind: 'manual', startSlot: START } })
    const recorded = recordingLog()
    const head = START
    const ingest = await ingestOf(simulator, recorded.log, head)
    simulator.advance(101)
    await ingest.ready
    await recorded.until(() => recorded.slots.length >= 100)
    await ingest.stop()
    t.is(ingest.status()?.slot, recorded.slots.at(-1)?.marker.slot)
    recorded.slots.forEach(({ marker, records }, at) => {
      t.deepEqual([marker.slot, marker.parent], [head + 1 + at, head + at])
      t.is(marker.blockTime, simulator.market.timeOf(marker.slot))
      t.deepEqual(inOrder(records), meant(simulator, marker.slot))
    })
    t.deepEqual(
      recorded.late.flatMap(({ records }) => records).filter(({ slot }) => slot > head),
      [],
    )
    await simulator.close()
  },
)

test.serial(
  'with all faults at once the log gets exactly the slots and records of the chain',
  async (t) => {
    const simulator = await startSimulator({
      clock: { kind: 'manual', startSlot: START },
      trouble: ALL_TROUBLE,
      replaySlots: 60,
    })
    const recorded = recordingLog()
    const head = START - 1
    const ingest = await ingestOf(simulator, recorded.log, head, {
      limits: {
        patienceMs: 300,
        recheckSlots: 24,
        restartRecheckSlots: 24,
        backoffMs: 20,
        maxBackoffMs: 100,
      },
    })
    const end = START + 120
    while (simulator.slot < end + 20) {
      simulator.advance(1)
      await recorded.until(() => (recorded.slots.at(-1)?.marker.slot ?? head) > simulator.slot - 40)
    }
    const expected = await producedSlots(simulator, START, end)
    const records = () => {
      const all = [...recorded.slots, ...recorded.late].flatMap((one) => one.records)
      const once = new Map(all.map((record) => [keyOf(record), record]))
      return inOrder([...once.values()].filter((record) => record.kind !== 'undecoded'))
    }
    const upToEnd = () => records().filter((record) => record.slot >= START && record.slot <= end)
    const truth = expected.flatMap((slot) => meant(simulator, slot))
    await recorded.until(() => {
      const complete = upToEnd().length >= truth.length
      return complete && (recorded.slots.at(-1)?.marker.slot ?? 0) > end
    })
    await ingest.stop()
    const slots = recorded.slots.map(({ marker }) => marker.slot).filter((slot) => slot <= end)
    t.deepEqual(slots, expected)
    const got = new Map(upToEnd().map((record) => [keyOf(record), record]))
    const wanted = new Map(truth.map((record) => [keyOf(record), record]))
    // Only differences: a whole history is too long for a message.
    t.deepEqual(
      [...got]
        .filter(([key, record]) => !isDeepStrictEqual(record, wanted.get(key)))
        .map(([, record]) => record),
      [],
    )
    t.deepEqual(
      [...wanted].filter(([key]) => !got.has(key)).map(([, record]) => record),
      [],
    )
    t.true(recorded.late.length > 0)

    // Every transaction with an event has its bytes on the log, which decode to the same records
    // (rule K4).
    const decoder = createDecoder(createWallets(simulator.wallets))
    const bytes = new Map(recorded.kept.map((one) => [`${one.slot}/${one.txIndex}`, one]))
    const again = [...bytes.values()].flatMap(({ slot, blockTime, bytes }) => {
      const tx = normalize({ kind: 'kept', slot, bytes })
      if (tx.kind === 'malformed') throw new Error(tx.reason)
      const decoded = decoder.decode(tx, blockTime)
      return decoded.kind === 'decoded' ? decoded.records : []
    })
    const events = (all: readonly WalletRecord[]) =>
      inOrder(all.filter((r) => 'eventIndex' in r && r.slot >= START && r.slot <= end))
    t.deepEqual(events(again), events(truth))
    await simulator.close()
  },
)

test.serial(
  'slots that the server cannot replay come over RPC, in order; past the longest gap live data continues',
  async (t) => {
    const simulator = await startSimulator({
      clock: { kind: 'manual', startSlot: START },
      replaySlots: 20,
      trouble: { skippedSlots: true, forks: true },
    })
    const head = (await producedSlots(simulator, START - 200, START - 100))[0] ?? 0
    for (const maxGapSlots of [3000, 100]) {
      const recorded = recordingLog()
      const ingest = await ingestOf(simulator, recorded.log, head, {
        limits: { maxGapSlots, recheckSlots: 0 },
      })
      const last = () => recorded.slots.at(-1)?.marker.slot ?? 0
      const before = simulator.confirmedSlot
      while (last() < before) {
        simulator.advance(1)
        await new Promise(setImmediate)
      }
      await ingest.stop()
      const got = recorded.slots.map(({ marker }) => marker.slot)
      const first = maxGapSlots === 3000 ? head + 1 : (got[0] ?? 0)
      t.deepEqual(got, await producedSlots(simulator, first, last()))
      for (const { marker, records } of recorded.slots) {
        t.deepEqual(inOrder(records), meant(simulator, marker.slot))
      }
      const parent = recorded.slots[0]?.marker.parent
      // The parent of the first slot shows readers of the log what is missing.
      if (maxGapSlots === 3000) t.is(parent, head)
      else t.true((parent ?? 0) > head + maxGapSlots)
    }
    await simulator.close()
  },
)

test.serial(
  'while the log is down ingest waits with bounded memory; afterwards the log gets everything in order',
  async (t) => {
    const simulator = await startSimulator({ clock: { kind: 'manual', startSlot: START } })
    const recorded = recordingLog()
    let back: () => void = () => {}
    const down = new Promise<void>((resolve) => {
      back = resolve
    })
    const registry = createRegistry()
    const log: EventLog = {
      ...recorded.log,
      appendSlot: async (slot) => {
        await down
        await recorded.log.appendSlot(slot)
      },
    }
    const ingest = await ingestOf(simulator, log, START, {
      registry,
      limits: { maxWaitingSlots: 8 },
    })
    const streamsEnded = async () => {
      const { values = [] } = (await registry.getSingleMetric('ingest_streams_total')?.get()) ?? {}
      return values.find(({ labels }) => labels.end === 'behind')?.value ?? 0
    }
    while ((await streamsEnded()) === 0) {
      simulator.advance(1)
      await new Promise((resolve) => setTimeout(resolve, 2))
    }
    simulator.advance(50)
    t.is(ingest.status(), null)
    back()
    await recorded.until(() => recorded.slots.at(-1)?.marker.slot === simulator.confirmedSlot)
    t.deepEqual(
      recorded.slots.map(({ marker }) => marker.slot),
      recorded.slots.map((_, at) => START + 1 + at),
    )
    await ingest.stop()
    await simulator.close()
  },
)

test.serial(
  'pool prices go with the markers, one a second, and with every swap that has a quote coin',
  async (t) => {
    const simulator = await startSimulator({ clock: { kind: 'manual', startSlot: START } })
    const recorded = recordingLog()
    const ingest = await ingestOf(simulator, recorded.log, START)
    simulator.advance(301)
    await recorded.until(() => recorded.slots.length >= 300)
    await ingest.stop()
    const markers = recorded.slots.map(({ marker }) => marker)
    t.true(markers.some(({ solPrice }) => solPrice !== null))
    const bySecond = new Map<number, bigint>()
    for (const { slot, blockTime, solPrice } of markers) {
      if (solPrice === null) continue
      t.true(solPrice.time <= blockTime, `the price of slot ${slot} is not of the future`)
      t.is(bySecond.get(solPrice.time) ?? solPrice.usdE9, solPrice.usdE9)
      bySecond.set(solPrice.time, solPrice.usdE9)
    }
    const swaps = recorded.slots.flatMap(({ marker, records }) =>
      records.flatMap((record) => (record.kind === 'swap' ? [{ marker, record }] : [])),
    )
    t.true(swaps.some(({ record }) => record.solPriceUsdE9 !== null))
    for (const { marker, record } of swaps) {
      t.is(record.solPriceUsdE9, record.quoteMint ? (marker.solPrice?.usdE9 ?? null) : null)
    }
    await simulator.close()
  },
)

test.serial(
  'slots that come over RPC, without a pool account, use the newest stored price (C1)',
  async (t) => {
    const simulator = await startSimulator({
      clock: { kind: 'manual', startSlot: START },
      replaySlots: 10,
    })
    const recorded = recordingLog()
    const time = simulator.market.timeOf(START - 90)
    const ingest = await ingestOf(simulator, recorded.log, START - 100, {
      storedPrices: async () => ({ prices: [{ time, usdE9: 99_000_000_000n }], until: time }),
    })
    simulator.advance(1)
    await recorded.until(() => recorded.slots.length >= 80)
    await ingest.stop()
    await simulator.close()
    const swaps = recorded.slots
      .flatMap(({ records }) => records)
      .flatMap((record) => (record.kind === 'swap' && record.slot < START - 20 ? [record] : []))
    t.true(swaps.some((swap) => swap.blockTime >= time))
    for (const { blockTime, quoteMint, solPriceUsdE9 } of swaps)
      t.is(solPriceUsdE9, blockTime >= time && quoteMint ? 99_000_000_000n : null)
  },
)

test.serial(
  'a price of a slot that was not appended whole is withdrawn, and counts again only if the same block is sealed (rule K9)',
  async (t) => {
    for (const isSame of [true, false]) {
      const simulator = await startSimulator({
        clock: { kind: 'manual', startSlot: START },
        replaySlots: 10,
      })
      const recorded = recordingLog()
      const slot = START - 90
      const time = simulator.market.timeOf(slot)
      const solPrice = { time, usdE9: 99_000_000_000n }
      const blockId = isSame ? blockIdOf(simulator.market.blockhash(slot)) : 5n
      const marker = { ...markerOf(simulator, slot), solPrice, blockId }
      const rewind = { checkpoint: markerOf(simulator, START - 100), attempt: 3 }
      const follower = { ...marker, slot: slot + 1, parent: slot, blockId: 6n }
      const ingest = await ingestOf(simulator, recorded.log, null, {
        storedPrices: async () => ({ prices: [solPrice], until: time }),
        resumePoint: async () => ({
          ...LIVE_START,
          ...rewind,
          partial: [
            { slot, marker },
            { slot: slot + 1, marker: follower },
            { slot: slot + 2, marker: null },
          ],
        }),
      })
      simulator.advance(1)
      await recorded.until(() => recorded.slots.length >= 80)
      await ingest.stop()
      await simulator.close()
      t.deepEqual(recorded.withdrawals, [
        { slot, blockId, solPrice, rewind },
        { slot: slot + 1, blockId: 6n, solPrice: null, rewind },
        { slot: slot + 2, blockId: null, solPrice: null, rewind },
      ])
      const swaps = recorded.slots
        .flatMap(({ records }) => records)
        .flatMap((record) => (record.kind === 'swap' && record.slot < START - 20 ? [record] : []))
      t.true(swaps.some((swap) => swap.blockTime > time))
      for (const swap of swaps) {
        const isPriced = isSame && swap.slot >= slot && swap.quoteMint !== null
        t.is(swap.solPriceUsdE9, isPriced ? solPrice.usdE9 : null)
      }
    }
  },
)

test.serial(
  'a price of a slot that was withdrawn before the start prices nothing (rule K9)',
  async (t) => {
    const simulator = await startSimulator({
      clock: { kind: 'manual', startSlot: START },
      replaySlots: 10,
    })
    const priceOf = (slot: number, usdE9: bigint) => ({
      time: simulator.market.timeOf(slot),
      usdE9,
    })
    const pricedAt = (slot: number, solPrice: SolPrice) => ({
      ...markerOf(simulator, slot),
      solPrice,
    })
    const valid = priceOf(START - 120, 98_000_000_000n)
    const withdrawn = priceOf(START - 110, 99_000_000_000n)
    const markers = [
      pricedAt(START - 120, valid),
      pricedAt(START - 110, withdrawn),
      pricedAt(START - 100, withdrawn),
    ]
    const recorded = recordingLog()
    const ingest = await ingestOf(simulator, recorded.log, null, {
      storedPrices: async () => ({ prices: [valid, withdrawn], until: withdrawn.time }),
      resumePoint: async () => ({
        ...LIVE_START,
        checkpoint: markers.at(-1) ?? null,
        unfinalized: markers,
        withdrawn: new Set([START - 110]),
      }),
    })
    simulator.advance(1)
    await recorded.until(() => recorded.slots.length >= 80)
    await ingest.stop()
    await simulator.close()
    t.deepEqual(recorded.slots[0]?.marker.solPrice, valid)
  },
)

test.serial(
  'slots that were not appended whole are withdrawn in order, some at a time, before anything else; a log that refuses leaves nothing open',
  async (t) => {
    const simulator = await startSimulator({ clock: { kind: 'manual', startSlot: START } })
    const partial = Array.from({ length: 40 }, (_, at) => ({ slot: START - 50 + at, marker: null }))
    const point = { ...LIVE_START, checkpoint: aMarker(START - 51), partial }
    const options = { resumePoint: async () => point }
    const refusing = recordingLog()
    const refused = {
      ...refusing.log,
      appendWithdrawal: async () => Promise.reject(new Error('no')),
    }
    await t.throwsAsync(ingestOf(simulator, refused, null, options), { message: 'no' })

    const recorded = recordingLog()
    const outcome: string[] = []
    let unacknowledged = 0
    let most = 0
    const log: EventLog = {
      ...recorded.log,
      async appendWithdrawal(withdrawal) {
        outcome.push(`${withdrawal.slot}`)
        most = Math.max(most, ++unacknowledged)
        await new Promise(setImmediate)
        unacknowledged -= 1
      },
      async appendSlot(slot) {
        if (outcome.at(-1) !== 'slots') outcome.push('slots')
        await recorded.log.appendSlot(slot)
      },
    }
    const ingest = await ingestOf(simulator, log, null, options)
    simulator.advance(1)
    await recorded.until(() => recorded.slots.length >= 10)
    t.deepEqual(outcome, [...partial.map(({ slot }) => `${slot}`), 'slots'])
    t.is(most, 16)
    while (simulator.followers < 2) await new Promise(setImmediate)
    t.is(simulator.followers, 2, 'only the two subscriptions of the second start')
    await ingest.stop()
    await simulator.close()
  },
)

test.serial(
  'after a start, what the log lacks of a slot that it has is late; what it has is not sent again (rule K2)',
  async (t) => {
    const simulator = await startSimulator({ clock: { kind: 'manual', startSlot: START } })
    const slot = START - 3
    const events = meant(simulator, slot).filter((record) => 'signature' in record)
    const signatures = [...new Set(events.map(({ signature }) => signature))]
    const [lacking = '', ...known] = signatures
    t.true(known.length > 0)
    const blockTime = simulator.market.timeOf(slot)
    const appended = [{ slot, blockTime, blockId: null, signatures: known }]
    const recorded = recordingLog()
    let asked = 0
    const log = {
      ...recorded.log,
      async appendedBlocks() {
        asked += 1
        if (asked === 1) throw new ServiceError('unreachable', 'no answer')
        return appended
      },
    }
    const ingest = await ingestOf(simulator, log, null, {
      resumePoint: async () => ({ ...LIVE_START, checkpoint: aMarker(START) }),
    })
    const origins = () =>
      Object.fromEntries(
        recorded.late.flatMap(({ records, origin }) =>
          records.flatMap((record) =>
            'signature' in record && record.slot === slot ? [[record.signature, origin]] : [],
          ),
        ),
      )
    simulator.advance(1)
    await recorded.until(() => Object.keys(origins()).length === signatures.length)
    t.deepEqual(origins(), {
      [lacking]: 'stream',
      ...Object.fromEntries(known.map((signature) => [signature, 'backfill'])),
    })
    t.is(asked, 2, 'a log that does not answer is asked again')
    await ingest.stop()
    await simulator.close()
  },
)

test.serial(
  'of a time between what storage has and what the log still names, a late swap gets no price yet (rule J7)',
  async (t) => {
    for (const storedTo of [START - 550, START]) {
      const simulator = await startSimulator({ clock: { kind: 'manual', startSlot: START } })
      const { timeOf } = simulator.market
      const slots = Array.from({ length: 20 }, (_, at) => START - 20 + at)
      const appended = slots.map((slot) => ({
        slot,
        blockTime: timeOf(slot),
        blockId: null,
        signatures: [],
      }))
      const recorded = recordingLog()
      const price = { time: timeOf(START - 600), usdE9: 99_000_000_000n }
      const ingest = await ingestOf(
        simulator,
        { ...recorded.log, appendedBlocks: async () => appended },
        START,
        { storedPrices: async () => ({ prices: [price], until: timeOf(storedTo) }) },
      )
      const swaps = () =>
        recorded.late
          .flatMap(({ records }) => records)
          .filter((record) => record.kind === 'swap' && record.quoteMint !== null)
      simulator.advance(1)
      await recorded.until(() => swaps().length > 3)
      await ingest.stop()
      await simulator.close()
      const expected = storedTo === START ? price.usdE9 : null
      t.deepEqual(
        new Set(swaps().map((swap) => swap.kind === 'swap' && swap.solPriceUsdE9)),
        new Set([expected]),
      )
    }
  },
)

test.serial(
  'a server that a start cannot reach, or that refuses it, is named with its variable',
  async (t) => {
    const simulator = await startSimulator({ clock: { kind: 'manual' }, xToken: 'right' })
    const config = {
      endpoint: simulator.endpoint,
      xToken: 'wrong',
      rpcUrl: simulator.rpcUrl,
      pricePool: simulator.solPricePool,
      priceMaxAgeSeconds: 3600,
    }
    const { log } = recordingLog()
    const nobody = 'http://127.0.0.1:32998'
    const cases = [
      [config, 'bad_config', /^YELLOWSTONE_X_TOKEN: /],
      [{ ...config, endpoint: nobody }, 'unreachable', /^YELLOWSTONE_ENDPOINT: /],
      [{ ...config, rpcUrl: nobody }, 'unreachable', /^SOLANA_RPC_URL: .*ECONNREFUSED/],
    ] as const
    for (const [wrong, code, message] of cases) {
      await t.throwsAsync(ingestOf(simulator, log, START, { config: wrong }), { code, message })
    }
    const ingest = await ingestOf(simulator, log, null, { config: { ...config, xToken: 'right' } })
    while (simulator.followers < 2) await new Promise(setImmediate) // else it misses these slots
    simulator.advance(5)
    await ingest.ready
    await ingest.stop()
    await simulator.close()
  },
)

const keyOf = (record: WalletRecord) =>
  [
    record.slot,
    record.txIndex,
    record.wallet,
    'eventIndex' in record ? record.eventIndex : record.kind,
    'account' in record ? record.account : '',
  ].join('/')
