import type { Address } from '../../domain/address.ts'
import { ServiceError } from '../../domain/service-error.ts'
import { metadataAddress } from '../../ingest/rpc/metadata-address.ts'
import { readMetadata, readMint } from '../../ingest/rpc/mint-account.ts'
import { MAX_ACCOUNTS_PER_CALL, type SolanaRpc } from '../../ingest/rpc/solana-rpc.ts'
import type { Logger } from '../../runtime/logger.ts'
import { pause } from '../../runtime/pause.ts'
import { createPatientStore } from '../../store/patient-store.ts'
import type { Store } from '../../store/store.ts'
import type { MintFactsMetrics } from '../telemetry.ts'
import { type MintAnswer, type MintRow, mintRow } from './mint-row.ts'

/** The worker that fetches what RPC knows of traded tokens (rule J8). */
export interface MintFacts {
  /** Tells of tokens that somebody has swapped; those that nothing is stored of are asked for soon. Neither waits nor fails. */
  note(mints: Iterable<Address>): void
  /** Resolves when nothing is under way any more; what was not asked for yet is found again at the next start. */
  stop(): Promise<void>
}

export interface MintFactsDeps {
  readonly store: Store
  readonly rpc: Pick<SolanaRpc, 'getMultipleAccounts' | 'close'>
  readonly logger: Logger
  readonly metrics: MintFactsMetrics
  /** Milliseconds of the wall clock. */
  readonly now?: () => number
  /** Waits; ends early when the signal is aborted. */
  readonly sleep?: (ms: number, signal: AbortSignal) => Promise<void>
  /** Called with what can only be a bug; the process should end. */
  readonly onBug: (error: unknown) => void
}

/** Of each mint two accounts are asked for: its own and that of its metadata. */
const MINTS_PER_CALL = MAX_ACCOUNTS_PER_CALL / 2
/** Mints that wait to be asked for; more are found again by looking into the tables. */
const MOST_WAITING = 10_000
/** Mints known to have a row, so that a token traded all day costs no query. */
const MOST_KNOWN = 100_000
/** Mints asked for again that wait at once. */
const MOST_DUE = 200
/** How often the tables are looked through for mints that nobody told of: those of other processes, and those that were too many. */
const SCAN_MS = 600_000
/** Mints that come together are asked for together. */
const GATHER_MS = 100
const PAUSES = { first: 1000, last: 60_000 }

/**
 * Asks RPC for each traded mint once, in batches, and stores what it says for ever. What is missing is asked for again after growing pauses, a few times
 * (`mint-row.ts`). While RPC or the store is away everything waits; after a crash the tables tell what was not asked for. Tokens that were only
 * ever transferred are in no swap and so cost nothing (rule K6).
 */
export function startMintFacts(deps: MintFactsDeps): MintFacts {
  const { rpc, metrics, logger, now = Date.now, sleep = pause } = deps
  const stopping = new AbortController()
  const store = createPatientStore(deps.store, stopping.signal, logger)
  const waiting = new Set<Address>()
  const known = new Set<Address>()
  let batchSize = MINTS_PER_CALL
  let scanAt = 0
  let dueAt = 0
  let wake: () => void = () => {}

  function want(mint: Address): void {
    if (waiting.size < MOST_WAITING) waiting.add(mint)
    else scanAt = 0
  }

  function know(mint: Address): void {
    if (known.size >= MOST_KNOWN) known.clear()
    known.add(mint)
  }

  async function run(): Promise<void> {
    let pauseMs = PAUSES.first
    while (!stopping.signal.aborted) {
      if (waiting.size === 0 && now() >= scanAt) await scan()
      if (waiting.size === 0 && now() >= dueAt) await findDue()
      metrics.waiting.set(waiting.size)
      if (waiting.size === 0) {
        await idle(Math.min(scanAt, dueAt) - now())
        continue
      }
      const batch = [...waiting].slice(0, batchSize)
      try {
        await ask(batch)
        for (const mint of batch) waiting.delete(mint)
        pauseMs = PAUSES.first
      } catch (error) {
        if (!(error instanceof ServiceError) || error.code === 'closed') throw error
        if (stopping.signal.aborted) return
        if (!error.retriable) {
          // Some servers take fewer accounts a call than others; and what one refuses does not hold up the rest.
          batchSize = Math.max(1, batchSize >> 1)
          for (const mint of batch) waiting.delete(mint)
          for (const mint of batch) waiting.add(mint)
        }
        logger.warn({ reason: error.message, pauseMs }, 'mint facts wait for RPC')
        await sleep(pauseMs, stopping.signal)
        pauseMs = Math.min(2 * pauseMs, PAUSES.last)
      }
    }
  }

  /** Waits for a mint to be told of, at most so long; then a little more, for others that come with it. */
  async function idle(ms: number): Promise<void> {
    if (stopping.signal.aborted) return
    const told = new AbortController()
    const over = () => told.abort()
    stopping.signal.addEventListener('abort', over)
    wake = over
    await sleep(Math.max(ms, 0), told.signal)
    stopping.signal.removeEventListener('abort', over)
    if (told.signal.aborted) await sleep(GATHER_MS, stopping.signal)
  }

  /** Traded mints without a row. Positions tell whether there was a swap, or transfers alone. */
  async function scan(): Promise<void> {
    const rows = await store.query<{ mint: Address }>(
      `SELECT DISTINCT mint FROM positions WHERE buys + sells > 0 AND mint NOT IN (SELECT mint FROM mints) LIMIT {limit:UInt32}`,
      { limit: MOST_WAITING },
    )
    scanAt = rows.length === MOST_WAITING ? 0 : now() + SCAN_MS
    for (const { mint } of rows) waiting.add(mint)
  }

  /** Mints whose time has come to be asked for again, and when the next one's comes. */
  async function findDue(): Promise<void> {
    const rows = await store.query<{ mint: Address; ask_again_at: number }>(
      `SELECT mint, ask_again_at FROM mints FINAL WHERE ask_again_at IS NOT NULL ORDER BY ask_again_at LIMIT {limit:UInt32}`,
      { limit: MOST_DUE },
    )
    const seconds = now() / 1000
    for (const row of rows) if (row.ask_again_at <= seconds) waiting.add(row.mint)
    const next = rows.find((row) => row.ask_again_at > seconds)
    const isMore = rows.length === MOST_DUE && next === undefined
    dueAt = next ? next.ask_again_at * 1000 : isMore ? 0 : now() + SCAN_MS
  }

  /** Asks for those of `mints` that are to be asked for, and stores the answers. */
  async function ask(mints: readonly Address[]): Promise<void> {
    const stored = new Map(
      (
        await store.query<MintRow>(
          `SELECT mint, token_program, decimals, supply, symbol, name, metadata, fetched_at, asked, ask_again_at
           FROM mints FINAL WHERE mint IN {mints:Array(String)} LIMIT 1000`,
          { mints },
        )
      ).map((row) => [row.mint, row]),
    )
    const wanted = mints.filter((mint) => {
      const row = stored.get(mint)
      return row === undefined || (row.ask_again_at !== null && row.ask_again_at * 1000 <= now())
    })
    if (wanted.length > 0) {
      const accounts = await rpc.getMultipleAccounts([...wanted, ...wanted.map(metadataAddress)])
      const answered = now()
      const rows = wanted.map((mint, at) => {
        const account = accounts[at]
        const described = accounts[wanted.length + at]
        const answer: MintAnswer = {
          mint: (account && readMint(account, mint)) ?? null,
          metaplex: (described && readMetadata(described, mint)) ?? null,
        }
        return mintRow(mint, stored.get(mint) ?? null, answer, answered)
      })
      await store.insert('mints', rows)
      for (const row of rows) {
        metrics.answers.inc({ outcome: row.decimals === null ? 'absent' : row.metadata })
        if (row.ask_again_at !== null) dueAt = Math.min(dueAt, row.ask_again_at * 1000)
      }
    }
    for (const mint of mints) know(mint)
  }

  const done = run().catch((error: unknown) => {
    if (!(error instanceof ServiceError && error.code === 'closed')) deps.onBug(error)
  })

  return {
    note(mints) {
      const before = waiting.size
      for (const mint of mints) if (!known.has(mint)) want(mint)
      if (waiting.size > before) wake()
    },
    async stop() {
      stopping.abort()
      rpc.close()
      await done
    },
  }
}
