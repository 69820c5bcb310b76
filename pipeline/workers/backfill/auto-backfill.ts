import { setMaxListeners } from 'node:events'
import type { Address } from '../../domain/address.ts'
import { ServiceError } from '../../domain/service-error.ts'
import { StoppedError } from '../../ingest/rpc/retry-until-stopped.ts'
import type { IngestMetrics } from '../../ingest/telemetry.ts'
import type { Logger } from '../../runtime/logger.ts'
import { pause } from '../../runtime/pause.ts'
import type { Store } from '../../store/store.ts'
import { type BackfillJob, newJob } from '../../store/tables/backfills.ts'
import { readTrackedWallets } from '../../store/tables/tracked-wallets.ts'
import type { Backfills } from './backfills.ts'
import { isCheaperByBlock } from './gaps-by-block.ts'
import { mapConcurrently } from './map-concurrently.ts'

/** Dependencies of automatic backfills. */
export interface AutoBackfillDeps {
  readonly store: Store
  readonly backfills: Backfills
  readonly metrics: Pick<IngestMetrics, 'openBackfills'>
  readonly logger: Logger
  /** Called with an error that only a bug can cause. */
  readonly onBug: (error: unknown) => void
}

const JOBS_AT_ONCE = 4
/** Pause before open jobs are looked for again, and the pause after a failure. */
const POLL_MS = 5000
const RETRY_MS = 30_000
/** A server applies a changed subscription within this many slots. */
const JOIN_SLOTS = 32
const JOIN_POLL_MS = 100

/** Backfills that start automatically: for holes in the log, and for added wallets. Crash safe. */
export class AutoBackfill {
  readonly #deps: AutoBackfillDeps
  readonly #stopping = new AbortController()
  /** Added wallets that the stream may not be subscribed to yet. */
  readonly #joining = new Set<number>()
  #hasBegun = false
  /** Whether there may be open jobs that `#running` has not read. */
  #isWanted = false
  #running: Promise<void> | null = null
  #next: NodeJS.Timeout | undefined

  constructor(deps: AutoBackfillDeps) {
    this.#deps = deps
    setMaxListeners(0, this.#stopping.signal)
  }

  /**
   * Stores a backfill job of the whole history for each of these wallets. Call it before they are
   * tracked. The jobs start with `follow`, or at the next start of the process.
   */
  readonly onAdded = async (wallets: readonly number[]): Promise<void> => {
    const range = { fromSlot: null, toSlot: null }
    if (this.#hasBegun) for (const wallet of wallets) this.#joining.add(wallet)
    await this.#deps.backfills.jobs.save(
      wallets.map((wallet) => newJob(wallet, 'added', range, Date.now())),
    )
  }

  /**
   * Call it once the log has slot `newest`. It starts the open backfills, and from then on those
   * that the fold worker opens for holes, in whatever process it runs. The coverage of wallets that
   * have none begins at `newest`. Wallets added before the process started are subscribed from its
   * first slot.
   */
  async begin(newest: { readonly slot: number; readonly blockTime: number }): Promise<void> {
    const { jobs, coverage, untilDurable } = this.#deps.backfills
    try {
      // Coverage must not start at a slot that a crash could still lose: ingest may resume after
      // it.
      await untilDurable(this.#stopping.signal)
      const added = new Set((await jobs.open(['added'])).map(({ wallet }) => wallet))
      const covered = (await this.#allWallets()).filter((wallet) => !added.has(wallet))
      await coverage.begin(covered, { slot: newest.slot, time: newest.blockTime })
    } catch (error) {
      if (this.#stopping.signal.aborted) return
      throw error
    }
    this.#hasBegun = true
    this.#start()
  }

  /**
   * Starts the backfills of wallets that joined a running subscription, 32 slots after the slot
   * that `newest` returns now. By then the server has applied the changed subscription.
   */
  async follow(newest: () => { readonly slot: number } | null): Promise<void> {
    const joined = [...this.#joining]
    const from = newest()?.slot ?? 0
    while ((newest()?.slot ?? 0) < from + JOIN_SLOTS) {
      if (this.#stopping.signal.aborted) return
      await pause(JOIN_POLL_MS, this.#stopping.signal)
    }
    for (const wallet of joined) this.#joining.delete(wallet)
    this.#start()
  }

  /** Stops running backfills. They resume at the next start. */
  async close(): Promise<void> {
    clearTimeout(this.#next)
    this.#stopping.abort()
    await this.#running
  }

  async #allWallets(): Promise<number[]> {
    return (await readTrackedWallets(this.#deps.store)).map((_, at) => at + 1)
  }

  /** Runs the open backfill jobs. If a run is in progress, schedules one more run after it. */
  #start(): void {
    if (!this.#hasBegun || this.#stopping.signal.aborted) return
    clearTimeout(this.#next)
    this.#isWanted = true
    this.#running ??= this.#runOpen()
      .then((pauseMs) => {
        this.#next = setTimeout(() => this.#start(), pauseMs)
      }, this.#deps.onBug)
      .finally(() => {
        this.#running = null
        if (this.#stopping.signal.aborted) clearTimeout(this.#next)
        else if (this.#isWanted) this.#start()
      })
  }

  /** Runs the open jobs. Returns the pause before it should be called again, in milliseconds. */
  async #runOpen(): Promise<number> {
    const { backfills, logger, metrics } = this.#deps
    try {
      while (this.#isWanted) {
        this.#isWanted = false
        const open = await backfills.jobs.open(['gap', 'added'])
        for (const reason of ['gap', 'added'] as const)
          metrics.openBackfills.set({ reason }, open.filter((job) => job.reason === reason).length)
        const addresses = open.length === 0 ? [] : await readTrackedWallets(this.#deps.store)
        // The job of a wallet without an address is of a wallets file that was refused after
        // `onAdded`.
        const ready = open.filter(
          ({ wallet }) => !this.#joining.has(wallet) && wallet <= addresses.length,
        )
        if (ready.length === 0) continue
        logger.info({ backfills: ready.length }, 'backfill begins')
        await this.#runJobs(ready, addresses)
        logger.info({ backfills: ready.length }, 'backfill done')
        this.#isWanted = true // so that the metric shows what is open now
      }
      return POLL_MS
    } catch (error) {
      if (this.#stopping.signal.aborted || error instanceof StoppedError) return POLL_MS
      if (!(error instanceof ServiceError)) throw error
      const context = { reason: error.message, retryMs: RETRY_MS }
      logger.warn(context, 'backfill interrupted; it resumes later')
      return RETRY_MS
    }
  }

  async #runJobs(jobs: readonly BackfillJob[], addresses: readonly Address[]): Promise<void> {
    const { backfills, metrics } = this.#deps
    const gaps = jobs.filter(({ reason }) => reason === 'gap')
    const byBlock = isCheaperByBlock(gaps)
    if (byBlock) await backfills.runGaps(gaps, addresses, this.#stopping.signal)
    const byWallet = byBlock ? jobs.filter(({ reason }) => reason !== 'gap') : jobs
    if (byWallet.length === 0) return
    // Read once, so that all jobs wait together until it is final.
    const liveSlot = await backfills.rpc.getSlot()
    await mapConcurrently(byWallet, JOBS_AT_ONCE, async (job) => {
      const address = addresses[job.wallet - 1]!
      await backfills.runJob({ job, address, liveSlot }, this.#stopping.signal)
      metrics.openBackfills.dec({ reason: job.reason })
    })
  }
}
