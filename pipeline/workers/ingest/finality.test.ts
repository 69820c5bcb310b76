import { setTimeout as pause } from 'node:timers/promises'
import test, { type ExecutionContext } from 'ava'
import { type Simulator, startSimulator } from '../../../infra/simulator/simulator.ts'
import { blockIdOf } from '../../domain/block-id.ts'
import type { SlotMarker, WalletRecord, Withdrawal } from '../../domain/slot.ts'
import { createWallets } from '../../domain/wallets.ts'
import type { FollowLimits } from '../../ingest/follow-limits.ts'
import type { EventLog } from '../../log/log.ts'
import { createLogger } from '../../runtime/logger.ts'
import { createRegistry } from '../../runtime/telemetry.ts'
import { startIngest } from './ingest.ts'

const START = 405_000_000

/** A log that keeps what counts: the records of each slot after its newest withdrawal. */
class CountingLog {
  readonly markers: SlotMarker[] = []
  readonly withdrawals: Withdrawal[] = []
  readonly #records = new Map<number, Map<string, WalletRecord>>()

  readonly log = {
    appendSlot: async ({ marker, records }) => {
      this.markers.push(marker)
      this.#add(records)
    },
    appendLate: async (records) => this.#add(records),
    appendWithdrawal: async (withdrawal) => {
      this.withdrawals.push(withdrawal)
      this.#records.delete(withdrawal.slot)
    },
  } as Partial<EventLog> as EventLog // ingest only appends

  /** Events of a slot by key, without prices. */
  events(slot: number): unknown[] {
    return [...(this.#records.get(slot)?.values() ?? [])]
      .filter((record) => 'eventIndex' in record)
      .map((record) => ({ ...record, solPriceUsdE9: null }))
      .sort((a, b) => (keyOf(a) < keyOf(b) ? -1 : 1))
  }

  get finalized(): number {
    return this.markers.at(-1)?.finalized ?? 0
  }

  #add(records: readonly WalletRecord[]): void {
    for (const record of records) {
      const ofSlot = this.#records.get(record.slot) ?? new Map<string, WalletRecord>()
      this.#records.set(record.slot, ofSlot.set(`${record.kind} ${keyOf(record)}`, record))
    }
  }
}

const keyOf = (record: object) => {
  const { txIndex, wallet, eventIndex = 0 } = record as Record<string, number>
  return [txIndex, wallet, eventIndex].map((part) => String(part).padStart(6, '0')).join('/')
}

const truth = (simulator: Simulator, slot: number) =>
  simulator.shape.kind(slot) === 'produced'
    ? simulator
        .truth(slot)
        .events.map((event) => ({ ...event, solPriceUsdE9: null }))
        .sort((a, b) => (keyOf(a) < keyOf(b) ? -1 : 1))
    : []

async function start(t: ExecutionContext): Promise<Simulator> {
  const simulator = await startSimulator({
    clock: { kind: 'manual', startSlot: START },
    wallets: 10,
    coins: 30,
    trackedPerSlot: 3,
    othersPerSlot: 1,
    trouble: { replacedBlocks: true, vanishedBlocks: true, skippedSlots: true },
  })
  t.teardown(() => simulator.close())
  return simulator
}

interface Checkpoint {
  readonly head: SlotMarker | null
  readonly finalized: number | null
  readonly markers: readonly SlotMarker[]
}

function ingestOf(
  simulator: Simulator,
  counting: CountingLog,
  { head, finalized, markers }: Checkpoint,
  limits: Partial<FollowLimits> = {},
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
    log: counting.log,
    resumePoint: async () => ({
      checkpoint: head,
      finalized,
      unfinalized: markers,
      partial: [],
    }),
    logger: createLogger('silent'),
    registry: createRegistry(),
    limits: { recheckSlots: 0, backoffMs: 5, ...limits },
  })
}

const NOTHING: Checkpoint = { head: null, finalized: null, markers: [] }

/** Lets slots pass until everything up to `slot` is final on the log. */
async function until(simulator: Simulator, counting: CountingLog, slot: number): Promise<void> {
  while (counting.finalized < slot) {
    simulator.advance(1)
    await pause(5)
  }
}

/** Compares slots `from`..`to` with the finalized chain; returns the slots that had a fork. */
function compare(
  t: ExecutionContext,
  simulator: Simulator,
  counting: CountingLog,
  [from, to]: readonly [number, number],
): number[] {
  const forks: number[] = []
  for (let slot = from; slot <= to; slot += 1) {
    t.deepEqual(counting.events(slot), truth(simulator, slot), `slot ${slot - START}`)
    if (simulator.forkAt(slot) !== null) forks.push(slot)
  }
  return forks
}

const inOrder = (slots: Iterable<number>) => [...new Set(slots)].sort((a, b) => a - b)

test('what was confirmed and never became final is withdrawn, and replaced by the finalized blocks (rule K9)', async (t) => {
  const simulator = await start(t)
  const counting = new CountingLog()
  const ingest = await ingestOf(simulator, counting, NOTHING)
  await until(simulator, counting, START + 200)
  const first = counting.markers[0]?.slot ?? 0
  const forks = compare(t, simulator, counting, [first, START + 200])
  await ingest.stop()
  t.true(forks.length > 6)
  const withdrawn = counting.withdrawals.filter(({ slot }) => slot <= START + 200)
  t.deepEqual(
    withdrawn.map(({ slot }) => slot),
    forks,
    'each once, in order',
  )
  const sealed = new Map(counting.markers.map((marker) => [marker.slot, marker]))
  for (const { slot, blockId, solPrice } of withdrawn) {
    const marker = sealed.get(slot)
    t.is(blockId, marker?.blockId ?? null)
    t.not(blockId, blockIdOf(simulator.market.blockhash(slot)))
    if (solPrice !== null) t.deepEqual(solPrice, marker?.solPrice ?? null)
  }
  t.true(withdrawn.some(({ solPrice }) => solPrice !== null))
  for (const { slot, finalized } of counting.markers)
    t.true(finalized === null || finalized < slot, 'finality follows the seal')
})

test('a restart continues with the slots that were sealed and are not final', async (t) => {
  const simulator = await start(t)
  const counting = new CountingLog()
  let checkpoint = NOTHING
  let from = 0
  for (let restart = 0; restart < 6; restart += 1) {
    const ingest = await ingestOf(simulator, counting, checkpoint)
    const until = simulator.slot + 37
    while ((counting.markers.at(-1)?.slot ?? 0) < until) {
      simulator.advance(1)
      await pause(5)
    }
    await ingest.stop()
    from ||= counting.markers[0]?.slot ?? 0
    simulator.advance(restart * 7)
    const head = counting.markers.at(-1) ?? null
    const finalized = head?.finalized ?? null
    const markers = counting.markers.filter(({ slot }) => slot > (finalized ?? Infinity))
    checkpoint = { head, finalized, markers }
  }
  const last = simulator.slot
  const ingest = await ingestOf(simulator, counting, checkpoint)
  await until(simulator, counting, last)
  await ingest.stop()
  const forks = compare(t, simulator, counting, [from, last])
  t.deepEqual(
    inOrder(counting.withdrawals.flatMap(({ slot }) => (slot <= last ? [slot] : []))),
    forks.filter((slot) => counting.withdrawals.some((one) => one.slot === slot)),
  )
  t.true(counting.withdrawals.length > 4)
})

test('cut streams, and a server that lost the finalized blocks, hide no withdrawal', async (t) => {
  const simulator = await start(t)
  const counting = new CountingLog()
  const ingest = await ingestOf(simulator, counting, NOTHING, { finalityPatienceMs: 50 })
  await until(simulator, counting, START + 40)
  for (let cut = 0; cut < 8; cut += 1) {
    simulator.disconnect()
    simulator.advance(9)
    await pause(60)
  }
  const last = simulator.slot
  await until(simulator, counting, last)
  await ingest.stop()
  const forks = compare(t, simulator, counting, [counting.markers[0]?.slot ?? 0, last])
  t.true(forks.length > 4)
})
