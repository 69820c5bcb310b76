import { setImmediate as nextTurn } from 'node:timers/promises'
import { type ProgramRegistry, REGISTRY } from '../../decode/registry.ts'
import type { Address } from '../../domain/address.ts'
import type { ResumePoint, SlotMarker, SolPrice } from '../../domain/slot.ts'
import type { Wallets } from '../../domain/wallets.ts'
import { followChain } from '../../ingest/follow-chain.ts'
import { DEFAULT_FOLLOW_LIMITS, type FollowLimits } from '../../ingest/follow-limits.ts'
import { createMintDecimals } from '../../ingest/rpc/mint-decimals.ts'
import { createRefusals } from '../../ingest/rpc/refusals.ts'
import { StoppedError } from '../../ingest/rpc/retry-until-stopped.ts'
import { createRpc } from '../../ingest/rpc/rpc.ts'
import { createSolPrices } from '../../ingest/sol-price.ts'
import { createIngestMetrics, type IngestMetrics } from '../../ingest/telemetry.ts'
import type { EventLog } from '../../log/log.ts'
import type { Logger } from '../../runtime/logger.ts'
import type { OnStage } from '../../runtime/slot-stage.ts'
import type { Registry } from '../../runtime/telemetry.ts'
import type { DepositIndex } from '../deposits/deposits.ts'
import { OutputAppender } from './append-output.ts'
import { createAppendWindow } from './append-window.ts'

/** Data sources of ingest. */
export interface IngestConfig {
  /** `YELLOWSTONE_ENDPOINT`, `YELLOWSTONE_X_TOKEN`. */
  readonly endpoint: string
  readonly xToken: string | null
  /** `SOLANA_RPC_URL`. */
  readonly rpcUrl: string
  /** `SOL_PRICE_POOL`, `SOL_PRICE_MAX_AGE_SECONDS`. */
  readonly pricePool: Address
  readonly priceMaxAgeSeconds: number
}

/** Dependencies of ingest. */
export interface IngestDeps {
  readonly config: IngestConfig
  readonly wallets: Wallets
  /** Programs and labels for the decoder; by default those that ship. */
  readonly programs?: ProgramRegistry
  readonly log: EventLog
  /** Where to continue: see `readResumePoint`. */
  readonly resumePoint: () => Promise<ResumePoint>
  /** SOL/USD prices of `SOL_PRICES_FILE`, in order of time. */
  readonly prices?: readonly SolPrice[]
  /**
   * Reads the pool prices of about the last hour from the store. A process that died may have
   * stored prices beyond the checkpoint. Those slots now come over RPC, which has no pool account.
   */
  readonly poolPrices?: () => Promise<readonly SolPrice[]>
  /** Receives every transaction, and names the payment accounts to subscribe to (rule E5). */
  readonly deposits?: Pick<DepositIndex, 'note' | 'accounts'> | null
  readonly logger: Logger
  readonly registry: Registry
  /** Metrics shared with backfills; by default new ones in `registry`. */
  readonly metrics?: IngestMetrics
  readonly limits?: Partial<FollowLimits>
  /** Called when a slot reaches a stage, from `received` to `appended`. */
  readonly onStage?: OnStage | undefined
}

/** Running ingest. */
export interface Ingest {
  /** The newest slot that the log has acknowledged since the start; null before the first. */
  status(): { readonly slot: number; readonly blockTime: number } | null
  /** Resolves when the log has acknowledged the first slot (rule J4). */
  readonly ready: Promise<void>
  /** Resolves after `stop`. Rejects on a bug or when the log is broken: the process has to end. */
  readonly done: Promise<void>
  /** Follows these wallets from now on. Numbers of wallets must not change. */
  updateWallets(wallets: Wallets): void
  /** Stops reading the stream, appends the sealed slots, and resolves when the log has them. */
  stop(): Promise<void>
}

/** Maximum number of appends that the log has not acknowledged. */
const UNACKNOWLEDGED = 16
/** A backlog is worked off in stretches of this length, so that the event loop stays responsive. */
const LONGEST_TURN_MS = 8
/** How long `stop` waits for decimals from RPC. */
const STOP_MS = 3000

/**
 * Follows the chain from the checkpoint and appends each sealed slot to the log in chain order:
 * stream, sealed slots, decoded records, log. A few slots at a time are unacknowledged. Rejects
 * with `unreachable` or `bad_config`, naming the variable, when a server cannot be used.
 */
export async function startIngest(deps: IngestDeps): Promise<Ingest> {
  const { config, log, logger, limits, onStage, deposits = null } = deps
  const metrics = deps.metrics ?? createIngestMetrics(deps.registry)
  const stopping = new AbortController()
  const rpc = createRpc({ url: config.rpcUrl, metrics })
  const [{ checkpoint, finalized, unfinalized, partial }, stored] = await Promise.all([
    deps.resumePoint(),
    deps.poolPrices?.() ?? [],
    rpc.ping(),
  ])
  const prices = knownPrices(deps.prices, stored, checkpoint, unfinalized)
  const newest = createNewestSlot()
  const appender = new OutputAppender({
    wallets: deps.wallets,
    programs: deps.programs ?? REGISTRY,
    log,
    decimals: createMintDecimals(rpc),
    prices,
    priceMaxAgeSeconds: config.priceMaxAgeSeconds,
    deposits,
    onStage,
    onAppended: newest.set,
    metrics,
    logger,
    refusals: createRefusals(limits?.refusalMs ?? DEFAULT_FOLLOW_LIMITS.refusalMs, {
      logger,
      metrics,
    }),
    stop: stopping.signal,
  })
  const chain = followChain(
    {
      ...config,
      wallets: deps.wallets,
      head: checkpoint?.slot ?? null,
      finality: {
        finalized: finalized ?? checkpoint?.slot ?? null,
        sealed: unfinalized,
      },
      payments: deposits ? deposits.accounts.bind(deposits) : undefined,
    },
    { rpc, prices, logger, metrics, onStage },
    limits,
  )
  // The block that is sealed now may be another one (rule K9).
  for (const slot of partial) await log.appendWithdrawal({ slot, blockId: null, solPrice: null })
  const done = appendAll(chain, appender).finally(() => rpc.close())
  done.catch(() => {}) // a start that fails rejects by itself

  async function stop(): Promise<void> {
    await chain.close()
    // Sealed slots are still decoded and appended; only a lookup that does not end is abandoned.
    const giveUp = setTimeout(() => stopping.abort(), STOP_MS)
    await done.finally(() => clearTimeout(giveUp))
  }

  await chain.opened.catch(async (error: unknown) => {
    await stop()
    throw error
  })
  return {
    status: newest.get,
    ready: newest.first,
    done,
    updateWallets(wallets) {
      appender.updateWallets(wallets)
      chain.updateWallets(wallets)
    },
    stop,
  }
}

function knownPrices(
  file: readonly SolPrice[] | undefined,
  stored: readonly SolPrice[],
  checkpoint: SlotMarker | null,
  unfinalized: readonly SlotMarker[],
) {
  const prices = createSolPrices(file)
  // A marker names the newest price: it came from the marker's own slot if no earlier one has it.
  for (const { slot, blockTime, solPrice } of unfinalized)
    if (solPrice?.time === blockTime) prices.add(solPrice, slot)
  for (const price of stored) prices.add(price)
  if (checkpoint?.solPrice) prices.add(checkpoint.solPrice)
  return prices
}

type Chain = ReturnType<typeof followChain>

/**
 * Appends everything that the chain brings, in order. Resolves when the chain has ended or stopped.
 */
async function appendAll(chain: Chain, appender: OutputAppender): Promise<void> {
  await Promise.all([appendOutputs(chain, appender), chain.done]).catch((error: unknown) => {
    if (!(error instanceof StoppedError)) throw error
  })
}

async function appendOutputs(chain: Chain, appender: OutputAppender): Promise<void> {
  const window = createAppendWindow(UNACKNOWLEDGED)
  let turnStartedAt = performance.now()
  for (;;) {
    const output = await chain.next()
    if (output === null) break
    await window.room()
    window.add(await appender.append(output))
    if (performance.now() - turnStartedAt > LONGEST_TURN_MS) {
      await nextTurn()
      turnStartedAt = performance.now()
    }
  }
  await window.empty()
}

function createNewestSlot() {
  let newest: { slot: number; blockTime: number } | null = null
  let resolveFirst: () => void = () => {}
  const first = new Promise<void>((resolve) => {
    resolveFirst = resolve
  })
  return {
    first,
    get: () => newest,
    set(slot: number, blockTime: number) {
      newest = { slot, blockTime }
      resolveFirst()
    },
  }
}
