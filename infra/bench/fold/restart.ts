import { foldEvent } from '../../../pipeline/fold/fold-wallet.ts'
import { storedFormats } from '../../../pipeline/fold/snapshot.ts'
import { createWalletState, takeChanges } from '../../../pipeline/fold/wallet-state.ts'
import type { Store } from '../../../pipeline/store/store.ts'
import { saveSnapshots } from '../../../pipeline/workers/fold/book-store.ts'
import type { BenchServers } from './bench-servers.ts'
import { endOf, historyEvent, type StoredHistory, storeHistory } from './history.ts'
import { startWorker } from './worker.ts'
import { createWorkload } from './workload.ts'

/** Number of swaps of a wallet after its last snapshot: the usual maximum after a kill. */
const BEYOND = 16

/** Seconds that a restarted worker needs. */
export interface Restart {
  /** Time from the start of the worker until a slot in which 250 wallets trade is stored. */
  readonly readySeconds: number
  /** Time from then until a slot in which every wallet trades is stored, in seconds. */
  readonly allSeconds: number
}

/** Restart time of a worker on a stored history, whose snapshots are `BEYOND` events old. */
export async function measureRestart(
  servers: BenchServers,
  history: StoredHistory,
): Promise<Restart> {
  const { store, remove } = await servers.openStore()
  try {
    await storeHistory(store, history)
    await storeSnapshots(store, history)
    const slot = endOf(history)
    const startedAt = performance.now()
    const worker = await startWorker(store)
    try {
      await worker.log.appendSlot(
        createWorkload({ wallets: 250, tokensPerWallet: 20 }).slotOf(slot, 250),
      )
      await worker.stored(slot)
      const readyAt = performance.now()
      const all = createWorkload({ wallets: history.wallets, tokensPerWallet: 20 })
      await worker.log.appendSlot(all.slotOf(slot + 1, history.wallets))
      await worker.stored(slot + 1)
      return {
        readySeconds: (readyAt - startedAt) / 1000,
        allSeconds: (performance.now() - readyAt) / 1000,
      }
    } finally {
      await worker.stop()
    }
  } finally {
    await remove()
  }
}

/** Stores a snapshot of each wallet of a history, `BEYOND` events before its end. */
export async function storeSnapshots(store: Store, history: StoredHistory): Promise<void> {
  for (let first = 1; first <= history.wallets; first += 500) {
    const states = []
    for (let wallet = first; wallet < first + 500 && wallet <= history.wallets; wallet += 1) {
      const state = createWalletState(wallet)
      for (let n = 0; n < history.eventsPerWallet - BEYOND; n += 1)
        foldEvent(state, historyEvent(history, wallet, n))
      takeChanges(state)
      states.push(state)
    }
    await saveSnapshots(store, states, { format: storedFormats(null).written, fenceOf: () => 0 })
  }
}
