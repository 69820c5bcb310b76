import type { ProgramRegistry } from '../../decode/registry.ts'
import { ServiceError } from '../../domain/service-error.ts'
import { createMintDecimals } from '../../ingest/rpc/mint-decimals.ts'
import { createRefusals } from '../../ingest/rpc/refusals.ts'
import { StoppedError } from '../../ingest/rpc/retry-until-stopped.ts'
import { createRpc } from '../../ingest/rpc/rpc.ts'
import { createTransactionIndexes } from '../../ingest/rpc/transaction-index.ts'
import type { IngestMetrics } from '../../ingest/telemetry.ts'
import type { EventLog } from '../../log/log.ts'
import type { Logger } from '../../runtime/logger.ts'
import { createOutageLog } from '../../runtime/outage-log.ts'
import { pause } from '../../runtime/pause.ts'
import { createPatientStore } from '../../store/patient-store.ts'
import type { Store } from '../../store/store.ts'
import {
  breakText,
  type ChainBreak,
  readBreaks,
  reopenTraded,
} from '../../store/tables/chain-breaks.ts'
import { readAddresses } from '../../store/tables/tracked-wallets.ts'
import { mapConcurrently } from '../backfill/map-concurrently.ts'
import { BreakRepair } from './break-repair.ts'
import { CallBudget } from './rpc-budget.ts'

/** Running repairs. */
export interface BreakRepairs {
  /** Stops, and resolves when nothing runs. */
  stop(): Promise<void>
}

/** Dependencies of repairs. */
export interface RepairDeps {
  readonly store: Store
  readonly log: EventLog
  /** Programs and labels for the decoder. */
  readonly programs: ProgramRegistry
  /** `SOLANA_RPC_URL`. */
  readonly rpcUrl: string
  /** `REPAIR_RPC_CALLS_PER_HOUR`. */
  readonly callsPerHour: number
  /** How long RPC may refuse the decimals of a mint before it is given up (rule K10). */
  readonly refusalMs: number
  readonly priceMaxAgeSeconds: number
  /** Seconds for which a feed client may resume. */
  readonly feedSeconds: number
  readonly newest: () => { readonly slot: number; readonly blockTime: number } | null
  /**
   * The newest slot whose breaks are repaired; null: none now. Later breaks wait, because their
   * slots may change. So do all while slots are compared after a cut: a transaction that came late
   * goes to the socket if the comparison finds it, and not if a repair does (rule K2).
   */
  readonly repairable: () => number | null
  readonly metrics: IngestMetrics
  readonly logger: Logger
  /** Called with an error that only a bug can cause; the process should end. */
  readonly onBug: (error: unknown) => void
  /** Milliseconds of the wall clock. */
  readonly now?: () => number
  readonly everyMs?: number
}

const REPAIRS_AT_ONCE = 4
/** Pauses between tries of one break of which RPC has nothing; the last one for all later tries. */
const RETRY_MS = [3000, 10_000, 30_000]
/** Pause after a try that found something: it is stored and checked meanwhile. */
const FOUND_MS = 15_000
/** How often breaks of mints that were not traded are opened again if they have been since. */
const REOPEN_EVERY_MS = 30_000

/**
 * Starts to repair open breaks, each second, in the process of role `ingest`: it has the log, RPC
 * and the addresses. The budget bounds the calls; breaks that it does not reach stay open.
 */
export function startBreakRepairs(deps: RepairDeps): BreakRepairs {
  const { logger, now = Date.now, everyMs = 1000 } = deps
  const stopping = new AbortController()
  const store = createPatientStore(deps.store, stopping.signal, logger)
  const budget = new CallBudget(deps.callsPerHour, now)
  const onRequest = () => {
    budget.spend()
    deps.metrics.repairCalls.inc()
  }
  const rpc = createRpc({
    url: deps.rpcUrl,
    metrics: deps.metrics,
    concurrency: 4,
    history: 'finalized',
    onRequest,
  })
  const repair = new BreakRepair({
    ...deps,
    store,
    rpc,
    now,
    indexes: createTransactionIndexes(rpc),
    decimals: createMintDecimals(rpc),
    refusals: createRefusals(deps.refusalMs, deps),
  })
  /** When a break may be tried again, in milliseconds. */
  let notBefore = new Map<string, number>()
  let reopenedAt = 0

  async function pass(): Promise<void> {
    if (now() - reopenedAt >= REOPEN_EVERY_MS) {
      reopenedAt = now()
      await reopenTraded(store, Math.floor(reopenedAt / 1000))
    }
    const open = await readBreaks(store, ['open'])
    const keys = new Set(open.map(breakText))
    notBefore = new Map([...notBefore].filter(([key]) => keys.has(key)))
    const newest = deps.repairable() ?? -1
    const due = open.filter(
      (found) => found.slot <= newest && (notBefore.get(breakText(found)) ?? 0) <= now(),
    )
    if (due.length === 0 || !budget.isLeft) return
    const first = firstOfWallets(due)
    const wallets = first.map(({ wallet }) => wallet)
    const addresses = await readAddresses(store, wallets)
    await mapConcurrently(first, REPAIRS_AT_ONCE, async (found) => {
      const address = addresses.get(found.wallet)
      if (address === undefined || !budget.isLeft || stopping.signal.aborted) return
      const outcome = await repair.repair(found, address, stopping.signal)
      deps.metrics.repairs.inc({ outcome })
      notBefore.set(breakText(found), now() + (outcome === 'found' ? FOUND_MS : retryMs(found)))
    })
  }

  const outage = createOutageLog(logger, 'repair interrupted; it goes on later', 'repair goes on')

  async function run(): Promise<void> {
    while (!stopping.signal.aborted) {
      await pass().then(
        () => outage.worked(),
        (error: unknown) => {
          const isExpected = error instanceof ServiceError && error.code === 'unavailable'
          if (!isExpected) throw error
          outage.failed({ reason: error.message })
        },
      )
      await pause(everyMs, stopping.signal)
    }
  }

  const running = run().catch((error: unknown) => {
    const isStopped =
      error instanceof StoppedError || (error instanceof ServiceError && error.code === 'closed')
    if (!isStopped && !stopping.signal.aborted) deps.onBug(error)
  })
  return {
    async stop() {
      stopping.abort()
      rpc.close()
      await running
    },
  }
}

/**
 * The break of each wallet to repair first, that of its SOL if it has one: what is missing there
 * most often closes the others.
 */
function firstOfWallets(breaks: readonly ChainBreak[]): ChainBreak[] {
  const first = new Map<number, ChainBreak>()
  for (const found of breaks) {
    const known = first.get(found.wallet)
    if (known === undefined || (known.account !== '' && found.account === ''))
      first.set(found.wallet, found)
  }
  return [...first.values()]
}

function retryMs({ tries }: ChainBreak): number {
  return RETRY_MS[Math.min(tries, RETRY_MS.length - 1)]!
}
