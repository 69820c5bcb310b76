import { setTimeout as delay } from 'node:timers/promises'
import type { Address } from '../../domain/address.ts'
import { ServiceError } from '../../domain/service-error.ts'
import { createMintDecimals } from '../../ingest/rpc/mint-decimals.ts'
import { StoppedError } from '../../ingest/rpc/retry-until-stopped.ts'
import { createRpc } from '../../ingest/rpc/rpc.ts'
import type { HistoryRpc, SignatureInfo, SolanaRpc } from '../../ingest/rpc/solana-rpc.ts'
import { createTransactionIndexes } from '../../ingest/rpc/transaction-index.ts'
import type { HistoryRange } from '../../ingest/rpc/wallet-history.ts'
import type { IngestMetrics } from '../../ingest/telemetry.ts'
import type { EventLog } from '../../log/log.ts'
import type { Logger } from '../../runtime/logger.ts'
import { createPatientStore } from '../../store/patient-store.ts'
import type { Store } from '../../store/store.ts'
import { readTrackedWallets } from '../../store/tracked-wallets.ts'
import { untilInBooks } from '../fold/refold.ts'
import { type BackfillJob, createBackfillJobs, newJob } from './backfill-jobs.ts'
import { type BackfillDeps, backfillWallet } from './backfill-wallet.ts'
import { type Coverage, createCoverage, type Since } from './coverage.ts'
import { fewAtOnce } from './few-at-once.ts'

export interface BackfillsOptions {
  readonly store: Store
  readonly log: EventLog
  /** Whether what the log has acknowledged survives a crash of this process. */
  readonly logIsDurable: boolean
  /** Whether a fold worker stores what is appended, here or elsewhere (true); a backfill is done once it has. */
  readonly hasFold?: boolean
  /** `SOLANA_RPC_URL`. */
  readonly rpcUrl: string
  readonly priceMaxAgeSeconds: number
  readonly metrics: IngestMetrics
  readonly logger: Logger
  /** Requests to RPC at once: 16. */
  readonly concurrency?: number
  /** Told of every request that is sent. */
  readonly onRequest?: (body: string) => void
}

/** What a backfill came to for one wallet. */
export interface BackfillSummary {
  readonly wallet: number
  readonly transactions: number
  readonly records: number
  /** Transactions that RPC listed and did not give. */
  readonly missing: number
  /** Unix seconds since when everything is stored; null while the wallet is not followed live. */
  readonly completeSince: number | null
}

/** How far the backfills of a call are, over all its wallets. */
export interface BackfillProgress {
  readonly wallets: number
  readonly transactions: number
}

/** Fetches history of tracked wallets over RPC, wherever the process runs that owns addresses and RPC: beside ingest, or for an operator alone. */
export interface Backfills {
  /**
   * Fetches these wallets' history of a range, each from where an earlier call of the same range was cut off. Rejects with `unavailable` when a server
   * does not answer, with `closed` when stopped; then the same call goes on from the last page.
   */
  run(
    wallets: readonly number[],
    range: HistoryRange,
    stop: AbortSignal,
    onProgress?: (progress: BackfillProgress) => void,
  ): Promise<BackfillSummary[]>
  /** Carries one job to its end. */
  carryOut(job: BackfillJob, address: Address, stop: AbortSignal): Promise<void>
  /** The first slot whose block is of this unix second or later; `newest` + 1 when there is none. */
  slotAtTime(time: number): Promise<number>
  readonly jobs: ReturnType<typeof createBackfillJobs>
  readonly coverage: Coverage
  /** Resolves when what the log has acknowledged would survive a crash. */
  settled(stop: AbortSignal): Promise<void>
  close(): void
}

/** Wallets worked on at once: while one waits for its last answers, or to be stored, others go on. */
const WALLETS_AT_ONCE = 4
/** Tries of one request; the pauses between them double up to 5 s, so that a server may be away for half a minute. */
const ATTEMPTS = 12
/** A server that is behind the one that named a slot is asked again. */
const BEHIND_TRIES = 20
const BEHIND_PAUSE_MS = 500

export function createBackfills(options: BackfillsOptions): Backfills {
  const { log, logger, metrics, concurrency = 16, onRequest } = options
  const closed = new AbortController()
  const store = createPatientStore(options.store, closed.signal, logger)
  const rpc = createRpc({
    url: options.rpcUrl,
    metrics,
    concurrency,
    attempts: ATTEMPTS,
    ...(onRequest && { onRequest }),
  })
  const jobs = createBackfillJobs(store)
  const coverage = createCoverage(store)
  const settled = (stop: AbortSignal) =>
    options.logIsDurable ? Promise.resolve() : log.settled('fold', stop)
  const deps: BackfillDeps = {
    store,
    log,
    rpc,
    jobs,
    metrics,
    logger,
    settled,
    places: createTransactionIndexes(rpc),
    decimals: createMintDecimals(rpc),
    priceMaxAgeSeconds: options.priceMaxAgeSeconds,
  }

  async function work(
    opened: BackfillJob,
    address: Address,
    stop: AbortSignal,
    onPage: (page: { readonly transactions: number }) => void = () => {},
  ): Promise<BackfillJob> {
    let since = await coveredSince(opened.wallet)
    let begun = opened
    if (opened.newestSlot === null) {
      begun = await begin(opened, since)
      if (opened.reason === 'added') since = await coveredSince(opened.wallet)
    }
    const coveredFrom = begun.reason === 'gap' ? null : (since?.slot ?? null)
    const { job, oldest } = await backfillWallet(begun, address, coveredFrom, deps, stop, onPage)
    if (options.hasFold ?? true) await untilInBooks({ store, log }, [job.wallet], stop)
    await finish(job, oldest)
    return job
  }

  async function coveredSince(wallet: number): Promise<Since | undefined> {
    return (await coverage.of([wallet])).get(wallet)
  }

  async function begin(job: BackfillJob, since: Since | undefined): Promise<BackfillJob> {
    // Up to where live data begins, which a server may not have reached.
    const newestSlot = await newestFrom(rpc, job.range.toSlot ?? since?.slot ?? 0)
    const begun = { ...job, newestSlot }
    if (job.reason === 'added') {
      // A wallet that joined has been in the subscription since before this slot.
      await coverage.begin([job.wallet], await sinceOf(newestSlot))
      await jobs.save([begun]) // how far its gap reaches is shown
    }
    return begun
  }

  /** Says what is complete now, then that the job is done: after a crash in between it is said again. */
  async function finish(job: BackfillJob, oldest: SignatureInfo | null): Promise<void> {
    const { wallet, range, missingAt } = job
    const lost = missingAt && {
      slot: missingAt.slot + 1,
      time: missingAt.time ?? nowSeconds(),
    }
    const to = Math.min(range.toSlot ?? Number.MAX_SAFE_INTEGER, job.newestSlot ?? 0)
    if (job.reason === 'gap') {
      if (lost) await coverage.cut(wallet, lost)
    } else {
      const from = later(await reachedBy(job, oldest), lost)
      await coverage.extend(wallet, from, to)
      const inside = (await jobs.open(['gap'], wallet)).filter(
        (gap) => (gap.range.fromSlot ?? 0) >= from.slot && (gap.range.toSlot ?? to) <= to,
      )
      await jobs.save(inside.map((gap) => ({ ...gap, state: 'done' })))
    }
    await jobs.save([{ ...job, state: 'done' }])
  }

  /** How far back a history that was walked to its end is known: to its bound, but not beyond what the server has. */
  async function reachedBy(job: BackfillJob, oldest: SignatureInfo | null): Promise<Since> {
    const first = await rpc.getFirstAvailableBlock()
    // Where nobody says how far back the server goes, what it listed is known.
    const listed = oldest?.slot ?? job.position?.slot ?? job.newestSlot ?? 0
    return sinceOf(Math.max(first ?? listed, job.range.fromSlot ?? 0))
  }

  /** A slot with the time of its block, or of the next one; of now when the server lost it meanwhile. */
  async function sinceOf(slot: number): Promise<Since> {
    const blocks = await blocksFrom(slot, slot + NEXT_BLOCK_WITHIN)
    const time = blocks?.[0] === undefined ? null : await rpc.getBlockTime(blocks[0])
    return { slot, time: time ?? nowSeconds() }
  }

  /** Slots with a block; null when the server no longer knows. */
  async function blocksFrom(from: number, to: number): Promise<readonly number[] | null> {
    return rpc.getBlocks(from, to).catch((error: unknown) => {
      if (error instanceof ServiceError && !error.retriable) return null
      throw error
    })
  }

  /** The jobs of a call: those that a call of the same range left when it was cut off, what it had done included; else new ones. */
  async function planRun(wallets: readonly number[], range: HistoryRange) {
    const known = await jobs.ofRange(range)
    const open = wallets.flatMap((wallet) => {
      const job = known.get(wallet)
      return job?.state === 'open' ? [job] : []
    })
    const cutAt = open[0]?.createdAt
    const planned = wallets.map((wallet) => {
      const job = known.get(wallet)
      return job !== undefined && (job.state === 'open' || job.createdAt === cutAt)
        ? job
        : newJob(wallet, 'operator', range, (cutAt ?? 0) * 1000 || Date.now())
    })
    await jobs.save(planned.filter((job) => job.newestSlot === null))
    return new Map(planned.map((job) => [job.wallet, job]))
  }

  async function run(
    wallets: readonly number[],
    range: HistoryRange,
    stop: AbortSignal,
    onProgress: (progress: BackfillProgress) => void = () => {},
  ): Promise<BackfillSummary[]> {
    const ended = either(stop, closed.signal)
    try {
      const addresses = await readTrackedWallets(store)
      const asked = await planRun(wallets, range)
      const progress = { wallets: 0, transactions: 0 }
      const tell = ({ transactions }: { readonly transactions: number }) => {
        progress.transactions += transactions
        onProgress({ ...progress })
      }
      return await fewAtOnce(wallets, WALLETS_AT_ONCE, async (wallet): Promise<BackfillSummary> => {
        const address = addresses[wallet - 1]
        if (address === undefined)
          throw new ServiceError('wallet_not_found', `W${wallet} is not tracked`)
        const job = asked.get(wallet) ?? newJob(wallet, 'operator', range, Date.now())
        const resumed = job.newestSlot !== null
        const [first] =
          job.state === 'done' ? [job] : [await work(job, address, ended.signal, tell)]
        const done = [first]
        // What came since a cut that nobody followed live.
        if (resumed && range.toSlot === null) {
          const newest = first.newestSlot ?? 0
          const since = await coveredSince(wallet)
          if (since === undefined || since.slot > newest + 1) {
            const later = { fromSlot: newest + 1, toSlot: null }
            const rest = newJob(wallet, 'operator', later, Date.now())
            done.push(await work(rest, address, ended.signal, tell))
          }
        }
        progress.wallets += 1
        onProgress({ ...progress })
        const sum = (of: (job: BackfillJob) => number) =>
          done.reduce((all, job) => all + of(job), 0)
        return {
          wallet,
          transactions: sum((job) => job.transactions),
          records: sum((job) => job.records),
          missing: sum((job) => job.missing),
          completeSince: (await coveredSince(wallet))?.time ?? null,
        }
      })
    } catch (error) {
      if (error instanceof StoppedError || closed.signal.aborted)
        throw new ServiceError('closed', STOPPED, { retriable: true })
      throw error
    } finally {
      ended.release()
    }
  }

  return {
    run,
    async carryOut(job, address, stop) {
      const ended = either(stop, closed.signal)
      await work(job, address, ended.signal).finally(ended.release)
    },
    async slotAtTime(time) {
      let low = (await rpc.getFirstAvailableBlock()) ?? 0
      let high = (await rpc.getSlot()) + 1
      while (low < high) {
        const middle = Math.floor((low + high) / 2)
        const blocks = await blocksFrom(middle, Math.min(high, middle + NEXT_BLOCK_WITHIN))
        const block = blocks?.find((slot) => slot < high)
        const blockTime = block === undefined ? null : await rpc.getBlockTime(block)
        if (blocks !== null && block === undefined) high = middle
        else if (blockTime !== null && blockTime >= time) high = middle
        else low = (block ?? middle) + 1 // a block that the server has lost is older
      }
      return low
    },
    jobs,
    coverage,
    settled,
    close() {
      closed.abort()
      rpc.close()
    },
  }
}

const STOPPED = 'stopped; the same command goes on where this one was'
/** Slots in which the next block is looked for. */
const NEXT_BLOCK_WITHIN = 200

/** The newest slot, once the server has reached `least`. */
async function newestFrom(rpc: Pick<SolanaRpc & HistoryRpc, 'getSlot'>, least: number) {
  for (let tries = 1; ; tries++) {
    const slot = await rpc.getSlot()
    if (slot >= least) return slot
    if (tries === BEHIND_TRIES)
      throw new ServiceError('unavailable', 'SOLANA_RPC_URL: the server is behind the stream', {
        retriable: true,
      })
    await delay(BEHIND_PAUSE_MS)
  }
}

function later(a: Since, b: Since | null): Since {
  return b === null || a.slot >= b.slot ? a : b
}

function nowSeconds(): number {
  return Math.floor(Date.now() / 1000)
}

/** Aborted when one of them is; not `AbortSignal.any`, of which Node 20 may lose a part. */
function either(a: AbortSignal, b: AbortSignal) {
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
