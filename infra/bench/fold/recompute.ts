import { setTimeout as delay } from 'node:timers/promises'
import { readRefoldProgress, requestRefolds } from '../../../pipeline/workers/fold/refold.ts'
import type { BenchServers } from './bench-servers.ts'
import { type StoredHistory, storeHistory } from './history.ts'
import { startWorker } from './worker.ts'

/** Seconds from the request to recompute all wallets of a history until their books are stored. */
export async function measureRecompute(
  servers: BenchServers,
  history: StoredHistory,
): Promise<number> {
  const { store, remove } = await servers.openStore()
  try {
    await storeHistory(store, history)
    const { log, stop } = await startWorker(store)
    try {
      const startedAt = performance.now()
      const wallets = Array.from({ length: history.wallets }, (_, at) => at + 1)
      const targets = await requestRefolds({ store, log }, wallets)
      while ((await readRefoldProgress(store, targets)).done < history.wallets) await delay(50)
      return (performance.now() - startedAt) / 1000
    } finally {
      await stop()
    }
  } finally {
    await remove()
  }
}
