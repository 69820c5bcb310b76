import { setTimeout as delay } from 'node:timers/promises'
import {
  REFOLD_LIMITS,
  type RefoldLimits,
} from '../../../pipeline/workers/fold/background-refolds.ts'
import { readRefoldProgress, requestRefolds } from '../../../pipeline/workers/fold/refold.ts'
import type { BenchServers } from './bench-servers.ts'
import { endOf, type StoredHistory, storeHistory } from './history.ts'
import { startWorker } from './worker.ts'
import { createWorkload } from './workload.ts'

/** Time between two slots. */
const SLOT_MS = 400

/** Slots of other wallets while all wallets of a history are refolded. Seconds. */
export interface Stall {
  /** From the request until the books are stored. */
  readonly refoldSeconds: number
  /** From the append of a slot until it is stored. */
  readonly medianSeconds: number
  readonly longestSeconds: number
  readonly slots: number
}

/** Appends a slot of 50 events every 400 ms while the wallets of a history are refolded. */
export async function measureStall(
  servers: BenchServers,
  history: StoredHistory,
  { isInFlush }: { readonly isInFlush: boolean },
): Promise<Stall> {
  const { store, remove } = await servers.openStore()
  try {
    // The last 10 wallets have no history. They trade in the slots.
    await storeHistory(store, history)
    const limits: RefoldLimits = isInFlush
      ? { ...REFOLD_LIMITS, rowsPerFlush: Number.POSITIVE_INFINITY }
      : REFOLD_LIMITS
    const { log, stored, stop } = await startWorker(store, limits)
    const workload = createWorkload({ wallets: 10, tokensPerWallet: 20 })
    const others = (slot: number) => {
      const { marker, records } = workload.slotOf(slot, 50)
      const moved = records.map((record) =>
        'wallet' in record ? { ...record, wallet: record.wallet + history.wallets } : record,
      )
      return { marker, records: moved }
    }
    try {
      let slot = endOf(history)
      const append = async () => {
        slot += 1
        const startedAt = performance.now()
        const isStored = stored(slot)
        await log.appendSlot(others(slot))
        await isStored
        return (performance.now() - startedAt) / 1000
      }
      for (let warmUp = 0; warmUp < 3; warmUp += 1) await append()
      const startedAt = performance.now()
      const wallets = Array.from({ length: history.wallets }, (_, at) => at + 1)
      const targets = await requestRefolds({ store, log }, wallets)
      const slots: Promise<number>[] = []
      while ((await readRefoldProgress(store, targets)).done < history.wallets) {
        slots.push(append())
        await delay(SLOT_MS)
      }
      const refoldSeconds = (performance.now() - startedAt) / 1000
      const seconds = (await Promise.all(slots)).sort((a, b) => a - b)
      return {
        refoldSeconds,
        medianSeconds: seconds[Math.floor(seconds.length / 2)] ?? 0,
        longestSeconds: seconds.at(-1) ?? 0,
        slots: seconds.length,
      }
    } finally {
      await stop()
    }
  } finally {
    await remove()
  }
}
