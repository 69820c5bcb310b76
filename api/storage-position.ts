import { ServiceError } from '../pipeline/domain/service-error.ts'
import type { Logger } from '../pipeline/runtime/logger.ts'
import { createOutageLog } from '../pipeline/runtime/outage-log.ts'
import { pause } from '../pipeline/runtime/pause.ts'
import type { OnStage } from '../pipeline/runtime/slot-stage.ts'
import type { Store } from '../pipeline/store/store.ts'
import { readBreakCounts } from '../pipeline/store/tables/chain-breaks.ts'
import { readStoragePosition } from '../pipeline/store/tables/progress.ts'

/** The newest slot that every worker has stored completely. */
export interface StoredSlot {
  readonly slot: number
  readonly blockTime: number
}

/** The storage marker and the number of tracked wallets, polled from the store. */
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
  /**
   * Registers a function that is called with the next marker before the position advances to it, to
   * read ahead. The function it returns runs synchronously when the position advances. A rejection
   * does not delay the advance.
   */
  beforeMove(prepare: PrepareMove): void
  /** Reads the position, then polls it. Rejects when the store does not answer. */
  start(): Promise<void>
  stop(): Promise<void>
}

/** Reads ahead for a marker. The returned function applies the result. */
export type PrepareMove = (next: StoredSlot) => Promise<() => void>

/** Breaks are counted with every n-th poll: they scan a table. */
const POLLS_PER_BREAKS = 25

/** Polls the storage position, `everyMs` after each response. */
export function followStorage(
  deps: {
    readonly store: Store
    readonly logger: Logger
    /** Called when a slot is `stored`. */
    readonly onStage?: OnStage | undefined
  },
  everyMs = 200,
): StoragePosition {
  const { store, logger } = deps
  let stored: StoredSlot | null = null
  let wallets = 0
  let redecoded = false
  let breaks = { open: 0, unexplained: 0 }
  let polls = 0
  let polling: Promise<void> | undefined
  const stopping = new AbortController()
  const preparations: PrepareMove[] = []

  async function read(): Promise<void> {
    if (polls % POLLS_PER_BREAKS === 0) breaks = await readBreakCounts(store)
    polls += 1
    const row = await readStoragePosition(store)
    if (row === undefined) return
    wallets = Math.max(wallets, row.wallets)
    redecoded = row.redecoded !== 0
    if (row.partitions === 0 || row.found < row.partitions) return
    const slot = Number(row.lowest)
    if (stored !== null && slot <= stored.slot) return
    const next = { slot, blockTime: row.block_time }
    const prepared = await Promise.allSettled(preparations.map((prepare) => prepare(next)))
    stored = next
    deps.onStage?.('stored', slot)
    for (const one of prepared) if (one.status === 'fulfilled') one.value()
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
    stored: () => stored,
    walletCount: () => wallets,
    wasRedecoded: () => redecoded,
    breaks: () => breaks,
    beforeMove: (prepare) => preparations.push(prepare),
    async start() {
      await read()
      polling = poll()
    },
    async stop() {
      stopping.abort()
      await polling
    },
  }
}
