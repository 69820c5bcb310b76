import type { Swap } from '../../pipeline/domain/event.ts'
import { ServiceError } from '../../pipeline/domain/service-error.ts'
import type { SolPrice } from '../../pipeline/domain/slot.ts'
import { createPoolWatch, type PoolWatchConfig } from '../../pipeline/ingest/pools/pool-watch.ts'
import { createPoolMetrics } from '../../pipeline/ingest/pools/telemetry.ts'
import { createRpc } from '../../pipeline/ingest/rpc/rpc.ts'
import type { EventLog } from '../../pipeline/log/log.ts'
import type { Logger } from '../../pipeline/runtime/logger.ts'
import type { Registry } from '../../pipeline/runtime/telemetry.ts'
import { createPatientStore } from '../../pipeline/store/patient-store.ts'
import type { Store } from '../../pipeline/store/store.ts'
import type { Strategy } from '../../pipeline/trending/strategy.ts'
import { startMintFacts } from '../../pipeline/workers/facts/mint-facts.ts'
import { startPriceFill } from '../../pipeline/workers/facts/price-fill.ts'
import { storeSolPriceFile } from '../../pipeline/workers/facts/sol-price-file.ts'
import { startFold } from '../../pipeline/workers/fold/fold.ts'
import { createMintFactsMetrics, createTrendingMetrics } from '../../pipeline/workers/telemetry.ts'
import { createStrategyRunner } from '../../pipeline/workers/trending/strategy-runner.ts'
import { startTrending } from '../../pipeline/workers/trending/trending.ts'

interface Parts {
  readonly store: Store
  readonly log: EventLog
  readonly logger: Logger
  readonly registry: Registry
  /** Called with what can only be a bug. */
  readonly onBug: (error: unknown) => void
}

/** The workers of a process. */
export interface Workers {
  /** Says that prices of SOL have come to the store. */
  fillNow(): Promise<void>
  /** Filter strategies that are in force from the next tick of the watchlist on. */
  replaceStrategies(strategies: readonly Strategy[]): void
  stop(): Promise<void>
}

/** Starts the fold, and what follows from the swaps that it stores: missing prices, facts about mints, the watchlist with the pools of its tokens. Without `rpcUrl` there are no facts and no pools. */
export async function startWorkers(
  parts: Parts,
  config: {
    readonly rpcUrl: string | null
    readonly solPriceMaxAgeSeconds: number
    /** Where accounts of pools are followed, beside `rpcUrl`; null: they are not, and prices are those of the newest swaps. */
    readonly stream: PoolWatchConfig | null
    /** `PRIVACY_SALT` (rule I2). */
    readonly salt: string | null
    /** Filter strategies over the watchlist (rule G5). */
    readonly strategies: readonly Strategy[]
  },
): Promise<Workers> {
  const { logger, registry } = parts
  const listeners: ((swaps: readonly Swap[]) => void)[] = []
  const fold = await startFold({
    ...parts,
    salt: config.salt,
    onSwaps: (swaps) => {
      for (const tell of listeners) tell(swaps)
    },
  })
  const fill = startPriceFill({
    ...parts,
    books: fold,
    maxAgeSeconds: config.solPriceMaxAgeSeconds,
  })
  listeners.push(fill.note)
  const { rpcUrl } = config
  if (rpcUrl === null) logger.info('without SOLANA_RPC_URL there are no facts about mints')
  const metrics = createMintFactsMetrics(registry)
  const facts =
    rpcUrl === null
      ? null
      : startMintFacts({
          ...parts,
          metrics,
          rpc: createRpc({ url: rpcUrl, metrics, concurrency: 1 }),
        })
  const pools =
    rpcUrl === null || config.stream === null
      ? null
      : createPoolWatch(config.stream, {
          logger,
          onBug: parts.onBug,
          metrics: createPoolMetrics(registry),
          rpc: createRpc({ url: rpcUrl, metrics, concurrency: 1 }),
        })
  if (facts) listeners.push((swaps) => facts.note(swaps.map((swap) => swap.baseMint)))
  const signals = createStrategyRunner({ ...parts, strategies: config.strategies })
  const trending = startTrending(
    {
      ...parts,
      onTick: signals.onTick,
      metrics: createTrendingMetrics(registry),
      // Of several processes one computes: the one that has the first partition.
      isMine: () => fold.partitions().includes(0),
      pools,
    },
    config,
  )
  return {
    fillNow: fill.fillNow,
    replaceStrategies: signals.replace,
    async stop() {
      signals.stop()
      // Together: a fill may wait for the fold, which waits for a lost store for a while and no longer.
      await Promise.all([facts?.stop(), fill.stop(), trending.stop(), pools?.stop(), fold.stop()])
    },
  }
}

/**
 * Stores the prices of `SOL_PRICES_FILE` and of a simulated history beside everything else, then calls `onStored`. `ended` resolves when they are stored, or were
 * given up; `stop` ends it, and the next start goes on.
 */
export function loadSolPrices(
  { store, logger, onBug }: Pick<Parts, 'store' | 'logger' | 'onBug'>,
  prices: readonly SolPrice[],
  onStored: () => void,
): { readonly ended: Promise<void>; stop(): Promise<void> } {
  const stopping = new AbortController()
  const ended = storeSolPriceFile(createPatientStore(store, stopping.signal, logger), prices)
    .then((stored) => {
      logger.info({ prices: prices.length, stored }, 'past prices of SOL are stored')
      onStored()
    })
    .catch((error: unknown) => {
      if (!(error instanceof ServiceError && error.code === 'closed')) onBug(error)
    })
  return {
    ended,
    async stop() {
      stopping.abort()
      await ended
    },
  }
}
