import { ServiceError } from '../pipeline/domain/service-error.ts'
import type { Logger } from '../pipeline/runtime/logger.ts'
import { createOutageLog } from '../pipeline/runtime/outage-log.ts'
import { pause } from '../pipeline/runtime/pause.ts'
import type { Store } from '../pipeline/store/store.ts'
import { readBreakCounts } from '../pipeline/store/tables/chain-breaks.ts'
import { wasRedecoded } from '../pipeline/store/tables/redecoded-wallets.ts'
import { newestWallet } from '../pipeline/store/tables/tracked-wallets.ts'
import type { StateReader, StoredSlot } from './state-reader.ts'

/** The storage marker, the number of tracked wallets, and what else is known of storage. */
export interface StoragePosition {
  /** The storage marker; null before the first slot. Never goes back. */
  stored(): StoredSlot | null
  /** The number of tracked wallets; they are numbered from 1. */
  walletCount(): number
  /**
   * Whether a redecode ever changed stored events, so that a row may still be stored under an old
   * mint.
   */
  wasRedecoded(): boolean
  /** Open and unexplained breaks of all wallets (rule K8). */
  breaks(): { readonly open: number; readonly unexplained: number }
  /** Reads the position, then polls it. Rejects when the store does not answer. */
  start(): Promise<void>
  stop(): Promise<void>
}

/** Breaks are counted with every n-th poll: they scan a table. */
const POLLS_PER_BREAKS = 5

/** Follows the storage marker with `reader`, and polls the rest every `everyMs`. */
export function followStorage(
  deps: { readonly store: Store; readonly logger: Logger; readonly reader: StateReader },
  everyMs = 1000,
): StoragePosition {
  const { store, logger, reader } = deps
  let wallets = 0
  let redecoded = false
  let breaks = { open: 0, unexplained: 0 }
  let polls = 0
  let polling: Promise<void> | undefined
  const stopping = new AbortController()
  // A corrected swap is known before the next poll.
  reader.add({
    load: async () => {},
    apply(changes) {
      redecoded ||= changes.some(({ table, row }) => table === 'swaps' && row.version !== '0')
    },
  })

  async function read(): Promise<void> {
    if (polls % POLLS_PER_BREAKS === 0) breaks = await readBreakCounts(store)
    polls += 1
    wallets = Math.max(wallets, await newestWallet(store))
    redecoded ||= await wasRedecoded(store)
  }

  async function poll(): Promise<void> {
    const outage = createOutageLog(
      logger,
      'the storage position could not be read; will retry',
      'the storage position is read again',
    )
    for (;;) {
      await pause(everyMs, stopping.signal)
      if (stopping.signal.aborted) return
      try {
        await read()
        outage.worked()
      } catch (error) {
        const reason = error instanceof ServiceError ? error.message : 'failed'
        outage.failed({ reason })
      }
    }
  }

  return {
    stored: () => reader.stored(),
    walletCount: () => wallets,
    wasRedecoded: () => redecoded,
    breaks: () => breaks,
    async start() {
      await Promise.all([read(), reader.start()])
      polling = poll()
    },
    async stop() {
      stopping.abort()
      await Promise.all([polling, reader.stop()])
    },
  }
}
