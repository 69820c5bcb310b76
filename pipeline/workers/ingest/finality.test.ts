import { setTimeout as pause } from 'node:timers/promises'
import test, { type ExecutionContext } from 'ava'
import { type Simulator, startSimulator } from '../../../infra/simulator/simulator.ts'
import { blockIdOf } from '../../domain/block-id.ts'
import { ServiceError } from '../../domain/service-error.ts'
import type { SlotMarker, WalletRecord, Withdrawal } from '../../domain/slot.ts'
import type { FollowLimits } from '../../ingest/follow-limits.ts'
import type { EventLog } from '../../log/log.ts'
import { startTestIngest } from '../../testing/start-test-ingest.ts'

const START = 405_000_000

/** A log that keeps what counts: the records of each slot after its newest withdrawal. */
class CountingLog {
  readonly markers: SlotMarker[] = []
  readonly withdrawals: Withdrawal[] = []
  /** Whether the log breaks after the withdrawal of this slot. */
  breaksAfter = (_slot: number) => false
  isBroken = false
  readonly #records = new Map<number, Map<string, WalletRecord>>()

  readonly log = {
    appendSlot: async ({ marker, records }) => {
      this.#refuseIfBroken()
      this.markers.push(marker)
      this.#add(records)
    },
    appendLate: async (records) => {
      this.#refuseIfBroken()
      this.#add(records)
    },
    appendWithdrawal: async (withdrawal) => {
      this.#refuseIfBroken()
      this.withdrawals.push(withdrawal)
      this.#records.delete(withdrawal.slot)
      this.isBroken = this.breaksAfter(withdrawal.slot)
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

  #refuseIfBroken(): void {
    if (this.isBroken) throw new ServiceError('closed', 'broken')
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
  readonly withdrawn?: ReadonlySet<number>
}

function ingestOf(
  simulator: Simulator,
  counting: CountingLog,
  { head, finalized, markers, withdrawn = new Set() }: Checkpoint,
  limits: Partial<FollowLimits> = {},
) {
  return startTestIngest(simulator, counting.log, {
    resumePoint: async () => ({
      checkpoint: head,
      finalized,
      unfinalized: markers,
      withdrawn,
      partial: [],
      attempt: 1,
    }),
    limits: { recheckSlots: 0, backoffMs: 5, ...limits },
  })
}

const NOTHING: Checkpoint = { head: null, finalized: null, markers: [] }

/** The checkpoint of a process that was killed now. */
function checkpointOf({ markers, withdrawals }: CountingLog): Checkpoint {
  const head = markers.at(-1) ?? null
  const finalized = head?.finalized ?? null
  return {
    head,
    finalized,
    markers: markers.filter(({ slot }) => slot > (finalized ?? -1)),
    withdrawn: new Set(withdrawals.map(({ slot }) => slot)),
  }
}

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
    checkpoint = checkpointOf(counting)
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

test('killed after it withdrew a block and before it added the one that replaces it, a process adds that one when it starts again (rule K9)', async (t) => {
  const simulator = await start(t)
  const counting = new CountingLog()
  const isReplaced = (slot: number) => simulator.shape.kind(slot) === 'produced'
  let checkpoint = NOTHING
  for (let kills = 0; kills < 3; kills += 1) {
    const before = counting.withdrawals.length
    counting.breaksAfter = (slot) => isReplaced(slot) && counting.withdrawals.length > before
    const ingest = await ingestOf(simulator, counting, checkpoint)
    while (!counting.isBroken) {
      simulator.advance(1)
      await pause(5)
    }
    await ingest.stop().catch(() => {})
    counting.isBroken = false
    checkpoint = checkpointOf(counting)
    simulator.advance(kills * 7)
  }
  counting.breaksAfter = () => false
  const last = simulator.slot
  const ingest = await ingestOf(simulator, counting, checkpoint)
  await until(simulator, counting, last)
  await ingest.stop()
  const forks = compare(t, simulator, counting, [counting.markers[0]?.slot ?? 0, last])
  t.deepEqual(
    counting.withdrawals.flatMap(({ slot }) => (slot <= last ? [slot] : [])),
    forks.filter((slot) => counting.withdrawals.some((one) => one.slot === slot)),
    'each once, in order',
  )
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
