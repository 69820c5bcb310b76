import { createKafkaLog } from '../../../pipeline/log/kafka.ts'
import { createLogger } from '../../../pipeline/runtime/logger.ts'
import { createRegistry } from '../../../pipeline/runtime/telemetry.ts'
import type { Store } from '../../../pipeline/store/store.ts'
import { startMeter } from '../kit/cpu.ts'
import type { BenchServers } from './bench-servers.ts'
import { startBenchFold, watchProgress } from './worker.ts'
import { createWorkload } from './workload.ts'

/** Events of one slot: enough that a flush of a late worker holds few slots. */
const PER_SLOT = 250

/** Rate at which events were stored. */
export interface Pace {
  readonly events: number
  readonly seconds: number
  /** CPU of this process, in microseconds an event. */
  readonly cpuUs: number
}

/** Speed and size of the fold into ClickHouse. */
export interface StoredFoldResult {
  /** The first event of each wallet, from the start of a worker that has nothing in memory. */
  readonly first: Pace
  /** The later events. Partitions are not equally far when it begins, so it is a rough figure. */
  readonly then: Pace
  /** All events, from the start of the worker. */
  readonly all: Pace
  /**
   * Bytes on disk after merging, with all columns and the second order by wallet: of a swap, and of
   * an event's rows in all tables.
   */
  readonly bytesPerSwap: number
  readonly bytesPerEvent: number
}

/**
 * Puts an event of each wallet and then `events` more on Kafka, and lets the fold worker store them
 * in ClickHouse, as after a stop.
 */
export async function foldStored(
  { kafka, openStore }: BenchServers,
  options: { readonly wallets: number; readonly events: number; readonly partitions: number },
): Promise<StoredFoldResult> {
  const { wallets, events, partitions } = options
  const logger = createLogger('warn')
  const { store, remove } = await openStore()
  const log = await createKafkaLog(
    { ...kafka(), partitions },
    { logger, registry: createRegistry() },
  )
  const workload = createWorkload({ wallets, tokensPerWallet: 50 })
  const lastFirst = Math.ceil(wallets / PER_SLOT)
  const last = lastFirst + Math.ceil(events / PER_SLOT)
  for (let slot = 1; slot <= last; slot += 20)
    await Promise.all(
      Array.from({ length: Math.min(20, last - slot + 1) }, (_, at) =>
        log.appendSlot(workload.slotOf(slot + at, PER_SLOT)),
      ),
    )
  let begin = (_slot: number) => {}
  let finish = () => {}
  const begun = new Promise<number>((resolve) => {
    begin = resolve
  })
  const done = new Promise<void>((resolve) => {
    finish = resolve
  })
  const watched = watchProgress(store, log.partitions, (slot) => {
    if (slot >= lastFirst) begin(slot)
    if (slot === last) finish()
  })
  const start = stopwatch()
  const fold = await startBenchFold(watched, log)
  // A flush holds many slots: the first phase ends where all wallets have been seen, or later.
  const slots = await begun
  const first = start(slots * PER_SLOT)
  const middle = stopwatch()
  await done
  const then = middle((last - slots) * PER_SLOT)
  const all = start(last * PER_SLOT)
  await fold.stop()
  await log.close()
  const bytes = await bytesStored(store, last * PER_SLOT)
  await remove()
  return { first, then, all, ...bytes }
}

/** Starts the clocks; returns a function that reads them. */
function stopwatch(): (events: number) => Pace {
  const meter = startMeter()
  return (events) => {
    const { seconds, cpuSeconds } = meter()
    return { events, seconds, cpuUs: (cpuSeconds * 1e6) / events }
  }
}

async function bytesStored(store: Store, events: number) {
  await store.command('OPTIMIZE TABLE swaps FINAL')
  const [found] = await store.query<{ swaps: string; swap_bytes: string; bytes: string }>(
    `SELECT sumIf(rows, table = 'swaps') AS swaps, sumIf(bytes_on_disk, table = 'swaps') AS swap_bytes, sum(bytes_on_disk) AS bytes
     FROM system.parts WHERE database = currentDatabase() AND active`,
  )
  return {
    bytesPerSwap: Number(found?.swap_bytes) / Number(found?.swaps),
    bytesPerEvent: Number(found?.bytes) / events,
  }
}
