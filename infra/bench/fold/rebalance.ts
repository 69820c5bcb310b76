import type { EventLog, PartitionLease } from '../../../pipeline/log/log.ts'
import { REFOLD_LIMITS } from '../../../pipeline/workers/fold/background-refolds.ts'
import { median } from '../kit/figures.ts'
import type { BenchServers } from './bench-servers.ts'
import { endOf, type StoredHistory, storeHistory } from './history.ts'
import { storeSnapshots } from './restart.ts'
import { startWorker } from './worker.ts'
import { createWorkload } from './workload.ts'

const ROUNDS = 5
/** Wallets that trade in the first slot after a rebalance. */
const WALLETS_IN_SLOT = 250

/** Seconds from a rebalance, each the median of `ROUNDS`. */
export interface Rebalance {
  /** Until a slot is stored in which 250 wallets trade. */
  readonly firstSeconds: number
  /** From then until a slot is stored in which every wallet trades. */
  readonly allSeconds: number
}

/**
 * Time that a worker with all wallets of a history in memory needs after a rebalance in which it
 * keeps its partitions (`kept`), and after one in which it missed a generation, by turns.
 */
export async function measureRebalance(
  servers: BenchServers,
  history: StoredHistory,
): Promise<{ readonly kept: Rebalance; readonly missed: Rebalance }> {
  const { store, remove } = await servers.openStore()
  try {
    await storeHistory(store, history)
    await storeSnapshots(store, history)
    const group = new CountedGroup()
    const worker = await startWorker(store, REFOLD_LIMITS, (log) => group.over(log))
    const few = createWorkload({ wallets: WALLETS_IN_SLOT, tokensPerWallet: 20 })
    const all = createWorkload({ wallets: history.wallets, tokensPerWallet: 20 })
    let slot = endOf(history)
    const secondsOf = async (workload: typeof few, events: number) => {
      slot += 1
      const records = workload.slotOf(slot, events)
      const since = performance.now()
      const stored = worker.stored(slot)
      await worker.log.appendSlot(records)
      await stored
      return (performance.now() - since) / 1000
    }
    try {
      await secondsOf(all, history.wallets)
      const rounds = { kept: [] as Rebalance[], missed: [] as Rebalance[] }
      for (let round = 0; round < ROUNDS; round += 1)
        for (const [kind, generations] of [
          ['kept', 1],
          ['missed', 2],
        ] as const) {
          const since = performance.now()
          await group.assign(generations)
          const assigning = (performance.now() - since) / 1000
          rounds[kind].push({
            firstSeconds: assigning + (await secondsOf(few, WALLETS_IN_SLOT)),
            allSeconds: await secondsOf(all, history.wallets),
          })
        }
      return { kept: medianOf(rounds.kept), missed: medianOf(rounds.missed) }
    } finally {
      await worker.stop()
    }
  } finally {
    await remove()
  }
}

/** A consumer group as on Kafka, of which the bench counts the generations. */
class CountedGroup {
  #generation = 1
  #assign: () => Promise<unknown> = async () => {}

  /** The log as a member of the group reads it: no more of it than a worker uses. */
  over(log: EventLog): EventLog {
    const read: Pick<EventLog, 'partitions' | 'states' | 'epoch' | 'extent' | 'consume'> = {
      partitions: log.partitions,
      states: log.states,
      epoch: 0,
      extent: (times) => log.extent(times),
      consume: async (options, handler) => {
        if (options.mode !== 'shared') throw new Error('a worker reads as a group')
        const onAssigned = async (lease: PartitionLease) => {
          const generation = async () => this.#generation
          this.#assign = async () => options.onAssigned?.({ ...lease, generation })
          await this.#assign()
          return new Map()
        }
        return log.consume({ ...options, onAssigned }, handler)
      },
    }
    return read as EventLog
  }

  /** Assigns the same partitions again, so many generations later. Call it while none is read. */
  async assign(generations: number): Promise<void> {
    this.#generation += generations
    await this.#assign()
  }
}

function medianOf(rounds: readonly Rebalance[]): Rebalance {
  return {
    firstSeconds: median(rounds.map(({ firstSeconds }) => firstSeconds)),
    allSeconds: median(rounds.map(({ allSeconds }) => allSeconds)),
  }
}
