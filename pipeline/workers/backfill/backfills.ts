import { type ProgramRegistry, REGISTRY } from '../../decode/registry.ts'
import type { Address } from '../../domain/address.ts'
import type { HistoryRange } from '../../domain/history.ts'
import { ServiceError } from '../../domain/service-error.ts'
import { DEFAULT_FOLLOW_LIMITS } from '../../ingest/follow-limits.ts'
import type { HoldingsRpc } from '../../ingest/rpc/holdings.ts'
import { createMintDecimals } from '../../ingest/rpc/mint-decimals.ts'
import { createRefusals } from '../../ingest/rpc/refusals.ts'
import { StoppedError } from '../../ingest/rpc/retry-until-stopped.ts'
import { createRpc } from '../../ingest/rpc/rpc.ts'
import type { HistoryRpc, SolanaRpc } from '../../ingest/rpc/solana-rpc.ts'
import { createTransactionIndexes } from '../../ingest/rpc/transaction-index.ts'
import type { IngestMetrics } from '../../ingest/telemetry.ts'
import type { EventLog } from '../../log/log.ts'
import type { Logger } from '../../runtime/logger.ts'
import { createPatientStore } from '../../store/patient-store.ts'
import type { Store } from '../../store/store.ts'
import {
  type BackfillJob,
  type BackfillJobs,
  createBackfillJobs,
  newJob,
} from '../../store/tables/backfills.ts'
import { readTrackedWallets } from '../../store/tables/tracked-wallets.ts'
import { createWalletCoverage, type WalletCoverage } from '../../store/tables/wallet-coverage.ts'
import { fetchGapsByBlock, type GapDeps } from './gaps-by-block.ts'
import { mapConcurrently } from './map-concurrently.ts'
import { type BackfillJobDeps, type JobRun, runBackfillJob } from './run-backfill-job.ts'
import { createSlotTimes } from './slot-times.ts'

/** Options of backfills. */
export interface BackfillsOptions {
  readonly store: Store
  readonly log: EventLog
  /** Whether what the log has acknowledged survives a crash of this process. */
  readonly logIsDurable: boolean
  /** Whether a fold worker runs, here or elsewhere (default true). A backfill then waits for it. */
  readonly hasFold?: boolean
  /** `SOLANA_RPC_URL`. */
  readonly rpcUrl: string
  /** Programs and labels for the decoder; by default those that ship. */
  readonly programs?: ProgramRegistry
  readonly priceMaxAgeSeconds: number
  readonly metrics: IngestMetrics
  readonly logger: Logger
  /** How long RPC may refuse the decimals of a mint before it is given up (rule K10). */
  readonly refusalMs?: number
  /** Most RPC requests at a time; 16 by default. */
  readonly concurrency?: number
  /** Called with the body of every request to RPC. */
  readonly onRequest?: (body: string) => void
}

/** The outcome of a backfill for one wallet. */
export interface BackfillSummary {
  readonly wallet: number
  readonly transactions: number
  readonly records: number
  /** Transactions that RPC listed and did not return. */
  readonly missing: number
  /** Unix seconds since when everything is stored; null while the wallet is not followed live. */
  readonly completeSince: number | null
}

/** Progress of one call of `run`, summed over its wallets. */
export interface BackfillProgress {
  /** Wallets that are done. */
  readonly wallets: number
  readonly transactions: number
}

/**
 * Fetches history of tracked wallets over RPC: in the ingest process, or for an operator's command.
 */
export interface Backfills {
  /**
   * Fetches the history of wallets in a range. A wallet resumes where an earlier call of the same
   * range stopped. Rejects with `unavailable` when a server does not answer, with `closed` when
   * stopped; calling again resumes after the last stored page.
   */
  run(
    wallets: readonly number[],
    range: HistoryRange,
    stop: AbortSignal,
    onProgress?: (progress: BackfillProgress) => void,
  ): Promise<BackfillSummary[]>
  /** Runs one job to its end, see `runBackfillJob`. */
  runJob(run: JobRun, stop: AbortSignal): Promise<void>
  /** Runs jobs of gaps to their end together, see `fetchGapsByBlock`. */
  runGaps(
    gaps: readonly BackfillJob[],
    addresses: readonly Address[],
    stop: AbortSignal,
  ): Promise<void>
  /**
   * Returns the first slot whose block is of this unix second or later; the newest plus 1 if none
   * is.
   */
  slotAtTime(time: number): Promise<number>
  readonly jobs: BackfillJobs
  readonly coverage: WalletCoverage
  /** The client of the RPC server. */
  readonly rpc: HistoryRpc & HoldingsRpc & Pick<SolanaRpc, 'getSlot'>
  /** Resolves when everything that the log has acknowledged would survive a crash. */
  untilDurable(stop: AbortSignal): Promise<void>
  close(): void
}

/** Wallets at a time: while one waits for its last pages, others use the RPC server. */
const WALLETS_AT_ONCE = 4
/** Tries of one request. The pauses double up to 5 s, so a server may be down for half a minute. */
const ATTEMPTS = 12
const STOPPED = 'stopped; run the same command again to resume'

/** Creates backfills over an RPC server, with separate request limits. */
export function createBackfills(options: BackfillsOptions): Backfills {
  const closed = new AbortController()
  const store = createPatientStore(options.store, closed.signal, options.logger)
  const rpc = createRpc({
    url: options.rpcUrl,
    metrics: options.metrics,
    concurrency: options.concurrency ?? 16,
    attempts: ATTEMPTS,
    // What is fetched belongs to the slot for good, whatever is withdrawn there (rule K9).
    history: 'finalized',
    ...(options.onRequest && { onRequest: options.onRequest }),
  })
  const slotTimes = createSlotTimes(rpc)
  const deps: GapDeps = {
    ...options,
    store,
    rpc,
    jobs: createBackfillJobs(store),
    coverage: createWalletCoverage(store),
    slotTimes,
    hasFold: options.hasFold ?? true,
    untilDurable: (stop) =>
      options.logIsDurable ? Promise.resolve() : options.log.settled('fold', stop),
    indexes: createTransactionIndexes(rpc),
    decimals: createMintDecimals(rpc),
    refusals: createRefusals(options.refusalMs ?? DEFAULT_FOLLOW_LIMITS.refusalMs, options),
    programs: options.programs ?? REGISTRY,
  }
  return {
    async run(wallets, range, stop, onProgress = () => {}) {
      const ended = combineSignals(stop, closed.signal)
      try {
        return await runAll(wallets, range, deps, ended.signal, onProgress)
      } catch (error) {
        if (error instanceof StoppedError || closed.signal.aborted)
          throw new ServiceError('closed', STOPPED, { retriable: true })
        throw error
      } finally {
        ended.release()
      }
    },
    async runJob(run, stop) {
      const ended = combineSignals(stop, closed.signal)
      await runBackfillJob(run, deps, ended.signal).finally(ended.release)
    },
    async runGaps(gaps, addresses, stop) {
      const ended = combineSignals(stop, closed.signal)
      await fetchGapsByBlock(gaps, addresses, deps, ended.signal).finally(ended.release)
    },
    slotAtTime: slotTimes.slotAt,
    rpc,
    jobs: deps.jobs,
    coverage: deps.coverage,
    untilDurable: deps.untilDurable,
    close() {
      closed.abort()
      rpc.close()
    },
  }
}

/** Runs the jobs of an operator's call, a few wallets concurrently. */
async function runAll(
  wallets: readonly number[],
  range: HistoryRange,
  deps: BackfillJobDeps,
  stop: AbortSignal,
  onProgress: (progress: BackfillProgress) => void,
): Promise<BackfillSummary[]> {
  const addresses = await readTrackedWallets(deps.store)
  const jobs = await planJobs(wallets, range, deps.jobs)
  const progress = { wallets: 0, transactions: 0 }
  const onPage = ({ transactions }: { readonly transactions: number }) => {
    progress.transactions += transactions
    onProgress({ ...progress })
  }
  const { openBackfills } = deps.metrics
  openBackfills.inc({ reason: 'operator' }, wallets.length)
  const runOne = async (wallet: number): Promise<BackfillSummary> => {
    const address = addresses[wallet - 1]
    if (address === undefined)
      throw new ServiceError('wallet_not_found', `W${wallet} is not tracked`)
    const job = jobs.get(wallet) ?? newJob(wallet, 'operator', range, Date.now())
    const done = await runWithRest(job, address, deps, stop, onPage)
    progress.wallets += 1
    onProgress({ ...progress })
    openBackfills.dec({ reason: 'operator' })
    const coverage = await deps.coverage.ofWallet(wallet)
    return summarize(wallet, done, coverage?.time ?? null)
  }
  return mapConcurrently(wallets, WALLETS_AT_ONCE, runOne).finally(() => {
    // After a failure or a stop some wallets are left. They are no longer under way.
    openBackfills.dec({ reason: 'operator' }, wallets.length - progress.wallets)
  })
}

/**
 * Returns the job of each wallet. When an earlier call of the same range was cut off, these are its
 * jobs, including those that it finished; otherwise new ones.
 */
async function planJobs(
  wallets: readonly number[],
  range: HistoryRange,
  jobs: BackfillJobs,
): Promise<ReadonlyMap<number, BackfillJob>> {
  const known = await jobs.ofRange(range)
  const open = wallets.flatMap((wallet) => {
    const job = known.get(wallet)
    return job?.state === 'open' ? [job] : []
  })
  const cutOffAt = open[0]?.createdAt
  const planned = wallets.map((wallet) => {
    const job = known.get(wallet)
    return job !== undefined && (job.state === 'open' || job.createdAt === cutOffAt)
      ? job
      : newJob(wallet, 'operator', range, (cutOffAt ?? 0) * 1000 || Date.now())
  })
  await jobs.save(planned.filter((job) => job.newestSlot === null))
  return new Map(planned.map((job) => [job.wallet, job]))
}

/**
 * Runs a job. A resumed one without an upper bound ends at the slot at which it first began; when
 * the wallet was not followed live since then, a second job fetches the rest. Returns both.
 */
async function runWithRest(
  job: BackfillJob,
  address: Address,
  deps: BackfillJobDeps,
  stop: AbortSignal,
  onPage: (page: { readonly transactions: number }) => void,
): Promise<BackfillJob[]> {
  const { wallet, range } = job
  const isResumed = job.newestSlot !== null
  const runOne = (one: BackfillJob) =>
    runBackfillJob({ job: one, address, liveSlot: 0 }, deps, stop, onPage)
  const first = job.state === 'done' ? job : await runOne(job)
  if (!isResumed || range.toSlot !== null) return [first]
  const newest = first.newestSlot ?? 0
  const covered = await deps.coverage.ofWallet(wallet)
  if (covered !== undefined && covered.slot <= newest + 1) return [first]
  const rest = newJob(wallet, 'operator', { fromSlot: newest + 1, toSlot: null }, Date.now())
  return [first, await runOne(rest)]
}

function summarize(
  wallet: number,
  jobs: readonly BackfillJob[],
  completeSince: number | null,
): BackfillSummary {
  const sum = (of: (job: BackfillJob) => number) => jobs.reduce((all, job) => all + of(job), 0)
  return {
    wallet,
    transactions: sum((job) => job.transactions),
    records: sum((job) => job.records),
    missing: sum((job) => job.missing),
    completeSince,
  }
}

/**
 * Returns a signal that aborts with either. Node 20 may garbage collect parts of `AbortSignal.any`.
 */
function combineSignals(a: AbortSignal, b: AbortSignal) {
  const both = new AbortController()
  const abort = () => both.abort()
  for (const signal of [a, b]) {
    if (signal.aborted) abort()
    signal.addEventListener('abort', abort)
  }
  return {
    signal: both.signal,
    release: () => {
      for (const signal of [a, b]) signal.removeEventListener('abort', abort)
    },
  }
}
