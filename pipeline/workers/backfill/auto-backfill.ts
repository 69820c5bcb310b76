import { setMaxListeners } from 'node:events'
import type { Address } from '../../domain/address.ts'
import { ServiceError } from '../../domain/service-error.ts'
import { StoppedError } from '../../ingest/rpc/retry-until-stopped.ts'
import type { Logger } from '../../runtime/logger.ts'
import { pause } from '../../runtime/pause.ts'
import type { Store } from '../../store/store.ts'
import { readTrackedWallets } from '../../store/tracked-wallets.ts'
import { type BackfillJob, newJob } from './backfill-jobs.ts'
import type { Backfills } from './backfills.ts'
import { fewAtOnce } from './few-at-once.ts'

/** Backfills that nobody asks for: of gaps that ingest left, and of wallets that joined. They are remembered in the store and go on after a crash. */
export interface AutoBackfill {
  /** Remembers that every wallet lacks these slots; what comes after them may pass once this has resolved. */
  onGap(gap: { readonly fromSlot: number; readonly toSlot: number }): Promise<void>
  /** Remembers that the history of these wallets is wanted, before they are tracked. They wait for `follow`, or the next start. */
  onAdded(wallets: readonly number[]): Promise<void>
  /**
   * Ingest has handed over slot `newest`: wallets that are not covered yet are from here on, and what is open begins. Wallets that joined at a start are
   * in the subscription since its first slot.
   */
  begin(newest: { readonly slot: number; readonly blockTime: number }): Promise<void>
  /**
   * Lets wallets that joined a running subscription begin once it has surely taken them in: 32 slots after `newest`, the newest slot handed over, as it
   * was when the subscription changed.
   */
  follow(newest: () => { readonly slot: number } | null): Promise<void>
  close(): Promise<void>
}

/** Jobs carried out at once. */
const AT_ONCE = 4
/** After a failure everything open is tried again. */
const RETRY_MS = 30_000
/** A server takes a changed subscription in within so many slots: what comes later is live. */
const JOIN_SLOTS = 32
const JOIN_POLL_MS = 100

export function createAutoBackfill(deps: {
  readonly store: Store
  readonly backfills: Backfills
  readonly logger: Logger
  /** Called with what can only be a bug. */
  readonly onBug: (error: unknown) => void
}): AutoBackfill {
  const { store, backfills, logger } = deps
  const { jobs, coverage } = backfills
  const stopping = new AbortController()
  setMaxListeners(0, stopping.signal)
  const waiting = new Set<number>()
  let begun = false
  let wanted = false
  let running: Promise<void> | null = null
  let retry: NodeJS.Timeout | undefined

  async function allWallets(): Promise<number[]> {
    return (await readTrackedWallets(store)).map((_, at) => at + 1)
  }

  /** Starts work, or has it look again when it is at the end. */
  function kick(): void {
    if (!begun || stopping.signal.aborted) return
    wanted = true
    running ??= work()
      .catch(deps.onBug)
      .finally(() => {
        running = null
        if (wanted) kick()
      })
  }

  async function work(): Promise<void> {
    try {
      while (wanted) {
        wanted = false
        const open = (await jobs.open(['gap', 'added'])).filter(
          ({ wallet }) => !waiting.has(wallet),
        )
        if (open.length === 0) continue
        logger.info({ backfills: open.length }, 'backfill begins')
        await carryOut(open, await readTrackedWallets(store))
        logger.info({ backfills: open.length }, 'backfill done')
      }
    } catch (error) {
      if (stopping.signal.aborted || error instanceof StoppedError) return
      if (!(error instanceof ServiceError)) throw error
      logger.warn(
        { reason: error.message, retryMs: RETRY_MS },
        'backfill cut off; it goes on later',
      )
      retry = setTimeout(kick, RETRY_MS)
    }
  }

  async function carryOut(open: readonly BackfillJob[], addresses: readonly Address[]) {
    await fewAtOnce(open, AT_ONCE, async (job) => {
      const address = addresses[job.wallet - 1]
      // Without one it is remembered, but was never tracked: the file was not taken.
      if (address !== undefined) await backfills.carryOut(job, address, stopping.signal)
    })
  }

  return {
    async onGap({ fromSlot, toSlot }) {
      const now = Date.now()
      const range = { fromSlot, toSlot }
      await jobs.save((await allWallets()).map((wallet) => newJob(wallet, 'gap', range, now)))
      kick()
    },
    async onAdded(wallets) {
      const range = { fromSlot: null, toSlot: null }
      for (const wallet of wallets) if (begun) waiting.add(wallet)
      await jobs.save(wallets.map((wallet) => newJob(wallet, 'added', range, Date.now())))
    },
    async begin({ slot, blockTime }) {
      try {
        // Until the slot is stored for good, a start after a crash may begin behind it.
        await backfills.settled(stopping.signal)
        const added = new Set((await jobs.open(['added'])).map(({ wallet }) => wallet))
        const covered = (await allWallets()).filter((wallet) => !added.has(wallet))
        await coverage.begin(covered, { slot, time: blockTime })
      } catch (error) {
        if (stopping.signal.aborted) return
        throw error
      }
      begun = true
      kick()
    },
    async follow(newest) {
      const joining = [...waiting]
      const from = newest()?.slot ?? 0
      while ((newest()?.slot ?? 0) < from + JOIN_SLOTS) {
        if (stopping.signal.aborted) return
        await pause(JOIN_POLL_MS, stopping.signal)
      }
      for (const wallet of joining) waiting.delete(wallet)
      kick()
    },
    async close() {
      clearTimeout(retry)
      stopping.abort()
      await running
    },
  }
}
