import { isDeepStrictEqual } from 'node:util'
import test from 'ava'
import { ALL_TROUBLE } from '../../infra/simulator/options.ts'
import { type Simulator, startSimulator } from '../../infra/simulator/simulator.ts'
import type { SlotRecords, WalletRecord } from '../domain/slot.ts'
import { createWallets } from '../domain/wallets.ts'
import { createRpc } from '../ingest/rpc.ts'
import { createIngestMetrics } from '../ingest/telemetry.ts'
import type { EventLog, LateOrigin } from '../log/log.ts'
import { createLogger } from '../runtime/logger.ts'
import { createRegistry } from '../runtime/telemetry.ts'
import { startIngest } from './ingest.ts'

const START = 405_000_000

/** A log that keeps what is appended. */
function recordingLog() {
  const slots: SlotRecords[] = []
  const late: { records: readonly WalletRecord[]; origin: LateOrigin }[] = []
  let wake: () => void = () => {}
  const log: Pick<EventLog, 'appendSlot' | 'appendLate'> = {
    async appendSlot(slot) {
      slots.push(slot)
      wake()
    },
    async appendLate(records, origin) {
      late.push({ records, origin })
      wake()
    },
  }
  return {
    log: log as EventLog, // ingest appends, nothing else
    slots,
    late,
    async until(done: () => boolean): Promise<void> {
      while (!done()) {
        await new Promise<void>((resolve) => {
          wake = resolve
        })
      }
    },
  }
}

/** The service's ingest on a simulator, from `head` on. */
function ingestOf(
  simulator: Simulator,
  log: EventLog,
  head: number | null,
  options: Partial<Parameters<typeof startIngest>[0]> = {},
) {
  return startIngest({
    config: {
      endpoint: simulator.endpoint,
      xToken: null,
      rpcUrl: simulator.rpcUrl,
      pricePool: simulator.solPricePool,
      priceMaxAgeSeconds: 3600,
    },
    wallets: createWallets(simulator.wallets),
    log,
    checkpoint: async () =>
      head === null ? null : { slot: head, parent: head - 1, blockTime: 1, solPrice: null },
    logger: createLogger('silent'),
    registry: createRegistry(),
    ...options,
  })
}

/** What the market meant to happen in a slot, and what was recorded of it; prices apart, they are the pool's. */
const meant = (simulator: Simulator, slot: number) => {
  const { events, balances } = simulator.truth(slot)
  return inOrder([...events, ...balances])
}
const inOrder = (records: readonly WalletRecord[]) =>
  records
    .map((record) => (record.kind === 'swap' ? { ...record, solPriceUsdE9: null } : record))
    .sort(
      (a, b) =>
        a.slot - b.slot ||
        a.txIndex - b.txIndex ||
        a.wallet - b.wallet ||
        ('eventIndex' in a ? a.eventIndex : 99) - ('eventIndex' in b ? b.eventIndex : 99),
    )

/** Slots with a block, from RPC. */
async function producedSlots(simulator: Simulator, from: number, to: number): Promise<number[]> {
  const rpc = createRpc({ url: simulator.rpcUrl, metrics: createIngestMetrics(createRegistry()) })
  return rpc.getBlocks(from, to)
}

test.serial(
  'every slot of the chain arrives on the log in order, with exactly the records that the market meant',
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
  'with everything going wrong at once the log gets exactly the slots and records of the chain',
  async (t) => {
    const simulator = await startSimulator({
      clock: { kind: 'manual', startSlot: START },
      trouble: ALL_TROUBLE,
      replaySlots: 60,
    })
    const recorded = recordingLog()
    const head = START - 1
    const ingest = await ingestOf(simulator, recorded.log, head, {
      limits: { patienceMs: 300, recheckSlots: 24, backoffMs: 20, maxBackoffMs: 100 },
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
    // Only what differs: a whole history is no message.
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
    await simulator.close()
  },
)

const keyOf = (record: WalletRecord) =>
  [
    record.slot,
    record.txIndex,
    record.wallet,
    'eventIndex' in record ? record.eventIndex : record.kind,
  ].join('/')
