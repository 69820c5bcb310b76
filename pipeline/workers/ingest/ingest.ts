import { setImmediate as nextTurn } from 'node:timers/promises'
import { type ProgramRegistry, REGISTRY } from '../../decode/registry.ts'
import type { Address } from '../../domain/address.ts'
import type { ResumePoint, SolPrice, Withdrawal } from '../../domain/slot.ts'
import type { Wallets } from '../../domain/wallets.ts'
import { followChain } from '../../ingest/follow-chain.ts'
import { DEFAULT_FOLLOW_LIMITS, type FollowLimits } from '../../ingest/follow-limits.ts'
import { createMintDecimals } from '../../ingest/rpc/mint-decimals.ts'
import { createRefusals } from '../../ingest/rpc/refusals.ts'
import { StoppedError } from '../../ingest/rpc/retry-until-stopped.ts'
import { createRpc } from '../../ingest/rpc/rpc.ts'
import type { SolanaRpc } from '../../ingest/rpc/solana-rpc.ts'
import { createSolPrices, ownPrices } from '../../ingest/sol-price.ts'
import type { Selection } from '../../ingest/stream/wallet-selection.ts'
import type { OpenUpdateStream } from '../../ingest/stream/yellowstone.ts'
import { createIngestMetrics, type IngestMetrics } from '../../ingest/telemetry.ts'
import type { EventLog } from '../../log/log.ts'
import type { Logger } from '../../runtime/logger.ts'
import type { OnStage } from '../../runtime/slot-stage.ts'
import type { Registry } from '../../runtime/telemetry.ts'
import type { StoredPrices } from '../../store/tables/sol-prices.ts'
import type { DepositIndex } from '../deposits/deposits.ts'
import { OutputAppender } from './append-output.ts'
import { createAppendWindow } from './append-window.ts'

/** Data sources of ingest. */
export interface IngestConfig {
  /** `YELLOWSTONE_ENDPOINT`, `YELLOWSTONE_X_TOKEN`. */
  readonly endpoint: string
  readonly xToken: string | null
  /** `YELLOWSTONE_SELECTION`; null, the default, is `auto` (rule K24). */
  readonly selection?: Selection | null | undefined
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
  /** Reads the newest pool prices that are stored, of about an hour. By default there are none. */
  readonly storedPrices?: () => Promise<StoredPrices>
  /** Receives every transaction, and names the payment accounts to subscribe to (rule E5). */
  readonly deposits?: Pick<DepositIndex, 'note' | 'accounts'> | null
  readonly logger: Logger
  readonly registry: Registry
  /** Metrics shared with backfills; by default new ones in `registry`. */
  readonly metrics?: IngestMetrics
  readonly limits?: Partial<FollowLimits>
  /** Called when a slot reaches a stage, from `received` to `appended`. */
  readonly onStage?: OnStage | undefined
  /** Opens streams; by default from the Yellowstone server. */
  readonly openStream?: OpenUpdateStream | undefined
}

/** Running ingest. */
export interface Ingest {
  /** The newest slot that the log has acknowledged since the start; null before the first. */
  status(): { readonly slot: number; readonly blockTime: number } | null
  /**
   * The newest slot that is final (rule K9), up to which breaks are repaired; null: none now,
   * because slots before a cut are not compared yet (rule K2).
   */
  repairable(): number | null
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
  const { restartRecheckSlots, refusalMs } = { ...DEFAULT_FOLLOW_LIMITS, ...limits }
  const metrics = deps.metrics ?? createIngestMetrics(deps.registry)
  const stopping = new AbortController()
  const rpc = createRpc({ url: config.rpcUrl, metrics })
  const { point, prices } = await prepareStart(deps, rpc).catch((error: unknown) => {
    rpc.close()
    throw error
  })
  const { checkpoint, finalized, unfinalized, withdrawn } = point
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
    refusals: createRefusals(refusalMs, { logger, metrics }),
    stop: stopping.signal,
  })
  const chain = followChain(
    {
      ...config,
      wallets: deps.wallets,
      head: checkpoint?.slot ?? null,
      finality: {
        finalized: finalized ?? unfinalized[0]?.parent ?? checkpoint?.slot ?? null,
        sealed: unfinalized,
        withdrawn,
      },
      // All that a start compares: the processes before this one may not have finished with it.
      appended: async () =>
        checkpoint === null ? [] : log.appendedBlocks(checkpoint, restartRecheckSlots),
      payments: deposits ? deposits.accounts.bind(deposits) : undefined,
    },
    { rpc, prices, logger, metrics, onStage, openStream: deps.openStream },
    limits,
  )
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
  metrics.isLeader.set(1)
  return {
    status: newest.get,
    repairable: () => (chain.isCatchingUp ? null : chain.finalized),
    ready: newest.first,
    done,
    updateWallets(wallets) {
      appender.updateWallets(wallets)
      chain.updateWallets(wallets)
    },
    stop,
  }
}

/**
 * Reads where to continue, and withdraws the slots that were not appended whole: another block may
 * be sealed there now (rule K9). Rejects if RPC cannot be reached.
 */
async function prepareStart(deps: IngestDeps, rpc: Pick<SolanaRpc, 'ping'>) {
  const [point, stored] = await Promise.all([
    deps.resumePoint(),
    deps.storedPrices?.() ?? NONE_STORED,
    rpc.ping(),
  ])
  const { prices, withdrawals } = readPast(deps.prices, stored, point)
  const window = createAppendWindow(UNACKNOWLEDGED)
  for (const withdrawal of withdrawals) {
    await window.room()
    window.add({ acknowledged: deps.log.appendWithdrawal(withdrawal) })
  }
  await window.empty()
  return { point, prices }
}

const NONE_STORED: StoredPrices = { prices: [], until: 0 }

/**
 * Returns the prices known at the start, and withdrawals of the slots that were not appended whole
 * (rule K9). A price that came from such a slot counts again only if the same block is sealed
 * there: RPC, from which it may come now, has no pool account.
 *
 * Storage may be behind the log, which names only the prices of its newest slots. Those in between
 * are not known.
 */
function readPast(
  file: readonly SolPrice[] | undefined,
  stored: StoredPrices,
  { checkpoint, finalized, unfinalized, withdrawn, partial, attempt }: ResumePoint,
) {
  const chain = checkpoint !== null && unfinalized.length === 0 ? [checkpoint] : unfinalized
  const own = ownPrices([...chain, ...partial.flatMap(({ marker }) => marker ?? [])])
  /** Times of withdrawn prices. A second has one price. */
  const voidTimes = new Set<number>()
  const valid = new Map<number, SolPrice>()
  for (const marker of chain) {
    const { slot } = marker
    const price = own.get(marker)
    // What came from a slot up to the final one was perhaps withdrawn already. Storage knows.
    if (price === undefined || slot <= (finalized ?? -1)) continue
    if (withdrawn.has(slot)) voidTimes.add(price.time)
    else valid.set(slot, price)
  }
  // At the checkpoint the newest price is known.
  const knownFrom = [...valid.values()].map(({ time }) => time)
  if (checkpoint !== null) knownFrom.push(checkpoint.blockTime)
  const unknown = { after: stored.until, before: knownFrom.length > 0 ? Math.min(...knownFrom) : 0 }
  const prices = createSolPrices(file, { unknown })
  for (const [slot, price] of valid) prices.add(price, slot)
  const rewind = { checkpoint, attempt }
  const withdrawals = partial.map(({ slot, marker }): Withdrawal => {
    if (marker === null) return { slot, blockId: null, solPrice: null, rewind }
    const { blockId } = marker
    const solPrice = own.get(marker) ?? null
    if (solPrice !== null) {
      prices.rememberPriceOf({ slot, blockId }, solPrice)
      voidTimes.add(solPrice.time)
    }
    return { slot, blockId, solPrice, rewind }
  })
  for (const price of [...stored.prices, ...(checkpoint?.solPrice ? [checkpoint.solPrice] : [])])
    if (!voidTimes.has(price.time)) prices.add(price)
  return { prices, withdrawals }
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
