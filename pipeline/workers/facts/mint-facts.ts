import type { Address } from '../../domain/address.ts'
import { ServiceError } from '../../domain/service-error.ts'
import { metadataAddress } from '../../ingest/rpc/metadata-address.ts'
import { readMetadata, readMint } from '../../ingest/rpc/mint-account.ts'
import type { SolanaRpc } from '../../ingest/rpc/solana-rpc.ts'
import { MAX_ACCOUNTS_PER_CALL } from '../../ingest/rpc/solana-rpc.ts'
import type { EventLog } from '../../log/log.ts'
import type { StateChange } from '../../log/state-log.ts'
import type { Logger } from '../../runtime/logger.ts'
import { createOutageLog, type OutageLog } from '../../runtime/outage-log.ts'
import { orClosed, pause } from '../../runtime/pause.ts'
import { createPatientStore } from '../../store/patient-store.ts'
import type { Store } from '../../store/store.ts'
import {
  findDueMints,
  insertMints,
  type MintRow,
  readMintRows,
  readNewFacts,
} from '../../store/tables/mints.ts'
import { findMintsWithoutFacts } from '../../store/tables/positions.ts'
import type { MintFactsMetrics } from '../telemetry.ts'
import { MAX_QUEUED_MINTS, MintQueue } from './mint-queue.ts'
import { mintRow } from './mint-row.ts'

/** The worker that fetches facts about traded tokens over RPC (rule J8). */
export interface MintFactsWorker {
  /** Adds mints of new swaps. Mints without a row are requested soon. Never blocks or throws. */
  note(mints: Iterable<Address>): void
  /** Stops, and resolves when nothing runs. The next start finds what was not requested. */
  stop(): Promise<void>
}

/** Dependencies of the worker. */
export interface MintFactsDeps {
  readonly store: Store
  readonly log: Pick<EventLog, 'states'>
  readonly rpc: Pick<SolanaRpc, 'getMultipleAccounts' | 'close'>
  readonly logger: Logger
  readonly metrics: MintFactsMetrics
  /** Milliseconds of the wall clock. */
  readonly now?: () => number
  /** Waits; ends early when the signal aborts. */
  readonly sleep?: (ms: number, signal: AbortSignal) => Promise<void>
  /** Called with an error that only a bug can cause; the process should end. */
  readonly onBug: (error: unknown) => void
}

/** Each mint needs two accounts: its own and that of its Metaplex metadata. */
const MINTS_PER_CALL = MAX_ACCOUNTS_PER_CALL / 2
/** Maximum number of mints read at a time that are to be requested again. */
const MOST_DUE = 200
/** How often the tables are searched for mints that other processes traded, or that did not fit. */
const SCAN_MS = 600_000
/**
 * A start announces facts that were stored within this time: a former process may have ended
 * before it did.
 */
const ANNOUNCED_SECONDS = 600
/** Mints that are noted within this time share a request. */
const GATHER_MS = 100
/** Pauses after a failed request; they double from the first to the last. */
const PAUSES = { first: 1000, last: 60_000 }

/**
 * Starts the worker. It requests each traded mint once, in batches, and stores the response for
 * ever. Missing facts are requested again a few times, after growing pauses (`mint-row.ts`). While
 * RPC or the store is down, the queue waits. After a crash the tables name the mints without a row.
 * Tokens that were only transferred are in no swap and cost no request (rule K6).
 */
export function startMintFacts(deps: MintFactsDeps): MintFactsWorker {
  const fetcher = new MintFetcher(deps)
  const done = fetcher.run().catch((error: unknown) => {
    if (!(error instanceof ServiceError && error.code === 'closed')) deps.onBug(error)
  })
  return {
    note: (mints) => fetcher.note(mints),
    async stop() {
      fetcher.abort()
      await done
    },
  }
}

class MintFetcher {
  readonly #deps: MintFactsDeps
  readonly #store: Store
  readonly #now: () => number
  readonly #sleep: (ms: number, signal: AbortSignal) => Promise<void>
  readonly #queue = new MintQueue()
  readonly #stopping = new AbortController()
  readonly #outage: OutageLog
  #batchSize = MINTS_PER_CALL
  /** When the tables are next searched for mints without a row, in milliseconds. */
  #scanAt = 0
  /** When the next mint is to be requested again, in milliseconds. */
  #dueAt = 0
  /** Ends the current idle wait. */
  #wake: () => void = () => {}

  constructor(deps: MintFactsDeps) {
    this.#deps = deps
    this.#store = createPatientStore(deps.store, this.#stopping.signal, deps.logger)
    this.#now = deps.now ?? Date.now
    this.#sleep = deps.sleep ?? pause
    this.#outage = createOutageLog(
      deps.logger,
      'mint facts wait for RPC',
      'RPC gives mint facts again',
    )
  }

  note(mints: Iterable<Address>): void {
    const { added, dropped } = this.#queue.note(mints)
    if (dropped > 0) this.#scanAt = 0
    if (added > 0) this.#wake()
  }

  abort(): void {
    this.#stopping.abort()
    this.#deps.rpc.close()
  }

  /** Requests mints until `abort`. Rejects with `closed` when it waits for the store then. */
  async run(): Promise<void> {
    let pauseMs = PAUSES.first
    await this.#announce((await readNewFacts(this.#store, ANNOUNCED_SECONDS)).keys())
    while (!this.#stopping.signal.aborted) {
      if (this.#queue.size === 0 && this.#now() >= this.#scanAt) await this.#scan()
      if (this.#queue.size === 0 && this.#now() >= this.#dueAt) await this.#findDue()
      this.#deps.metrics.waiting.set(this.#queue.size)
      if (this.#queue.size === 0) {
        await this.#idle(Math.min(this.#scanAt, this.#dueAt) - this.#now())
        continue
      }
      const batch = this.#queue.first(this.#batchSize)
      const failure = await this.#tryBatch(batch)
      if (this.#stopping.signal.aborted) return
      if (failure === null) {
        this.#outage.worked()
        pauseMs = PAUSES.first
      } else {
        this.#outage.failed({ reason: failure.message })
        await this.#sleep(pauseMs, this.#stopping.signal)
        pauseMs = Math.min(2 * pauseMs, PAUSES.last)
      }
    }
  }

  /** Returns why a batch failed; null when it was stored. */
  async #tryBatch(batch: readonly Address[]): Promise<ServiceError | null> {
    try {
      await this.#fetch(batch)
      this.#queue.finish(batch)
      return null
    } catch (error) {
      if (!(error instanceof ServiceError) || error.code === 'closed') throw error
      if (!error.retriable) {
        // Some servers accept fewer accounts per call. A mint that a server rejects must not block
        // others.
        this.#batchSize = Math.max(1, this.#batchSize >> 1)
        this.#queue.postpone(batch)
      }
      return error
    }
  }

  /** Waits at most `ms` until a mint is added, then briefly for further mints of the same batch. */
  async #idle(ms: number): Promise<void> {
    const { signal } = this.#stopping
    if (signal.aborted) return
    const woken = new AbortController()
    const wake = () => woken.abort()
    signal.addEventListener('abort', wake)
    this.#wake = wake
    await this.#sleep(Math.max(ms, 0), woken.signal)
    signal.removeEventListener('abort', wake)
    if (woken.signal.aborted) await this.#sleep(GATHER_MS, signal)
  }

  /** Adds traded mints without a row. */
  async #scan(): Promise<void> {
    const mints = await findMintsWithoutFacts(this.#store, MAX_QUEUED_MINTS)
    this.#scanAt = mints.length === MAX_QUEUED_MINTS ? 0 : this.#now() + SCAN_MS
    this.#queue.add(mints)
  }

  /** Adds mints that are due to be requested again, and notes when the next one is. */
  async #findDue(): Promise<void> {
    const rows = await findDueMints(this.#store, MOST_DUE)
    const seconds = this.#now() / 1000
    this.#queue.add(rows.filter((row) => row.ask_again_at <= seconds).map(({ mint }) => mint))
    const next = rows.find((row) => row.ask_again_at > seconds)
    const isMore = rows.length === MOST_DUE && next === undefined
    this.#dueAt = next ? next.ask_again_at * 1000 : isMore ? 0 : this.#now() + SCAN_MS
  }

  /** Requests those of `mints` that have no row or are due again, and stores the responses. */
  async #fetch(mints: readonly Address[]): Promise<void> {
    const stored = await readMintRows(this.#store, mints)
    const wanted = mints.filter((mint) => {
      const row = stored.get(mint)
      const again = row?.ask_again_at ?? null
      return row === undefined || (again !== null && again * 1000 <= this.#now())
    })
    if (wanted.length === 0) return
    const rows = await this.#requestRows(wanted, stored)
    await insertMints(this.#store, rows)
    await this.#announce(wanted)
    for (const row of rows) {
      const outcome = row.decimals === null ? 'absent' : row.metadata
      this.#deps.metrics.answers.inc({ outcome })
      if (row.ask_again_at !== null) this.#dueAt = Math.min(this.#dueAt, row.ask_again_at * 1000)
    }
  }

  /** Tells readers of the log of states that the facts about these mints have changed (K26). */
  async #announce(mints: Iterable<string>): Promise<void> {
    const changes: StateChange[] = Array.from(mints, (mint) => ({ table: 'mints', row: { mint } }))
    const message = { changes, mark: null, fence: null }
    const appended = this.#deps.log.states.append(new Map([[0, message]]))
    await orClosed(appended, this.#stopping.signal)
  }

  async #requestRows(mints: readonly Address[], stored: ReadonlyMap<Address, MintRow>) {
    const addresses = [...mints, ...mints.map(metadataAddress)]
    const accounts = await this.#deps.rpc.getMultipleAccounts(addresses)
    const answeredAt = this.#now()
    return mints.map((mint, at) => {
      const account = accounts[at]
      const metadata = accounts[mints.length + at]
      const answer = {
        mint: (account && readMint(account, mint)) ?? null,
        metaplex: (metadata && readMetadata(metadata, mint)) ?? null,
      }
      return mintRow(mint, stored.get(mint) ?? null, answer, answeredAt)
    })
  }
}
