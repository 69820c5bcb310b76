import type { Swap } from '../../pipeline/domain/event.ts'
import { PoolWatch } from '../../pipeline/ingest/pools/pool-watch.ts'
import { createPoolMetrics } from '../../pipeline/ingest/pools/telemetry.ts'
import { createRpc } from '../../pipeline/ingest/rpc/rpc.ts'
import { openAmong, type StreamServers } from '../../pipeline/ingest/stream/endpoints.ts'
import { openUpdateStream } from '../../pipeline/ingest/stream/yellowstone.ts'
import { readTextFile } from '../../pipeline/runtime/read-text-file.ts'
import { parseStrategies } from '../../pipeline/trending/strategies-file.ts'
import type { Strategy } from '../../pipeline/trending/strategy.ts'
import { startMintFacts } from '../../pipeline/workers/facts/mint-facts.ts'
import { type PriceFillWorker, startPriceFill } from '../../pipeline/workers/facts/price-fill.ts'
import { startFold } from '../../pipeline/workers/fold/fold.ts'
import { type LinkCheckWorker, startLinkCheck } from '../../pipeline/workers/links/check-links.ts'
import { startRollups } from '../../pipeline/workers/rollups/roll-up.ts'
import {
  createMintFactsMetrics,
  createRollupMetrics,
  createTrendingMetrics,
} from '../../pipeline/workers/telemetry.ts'
import { createStrategyRunner } from '../../pipeline/workers/trending/strategy-runner.ts'
import { startTrending } from '../../pipeline/workers/trending/trending.ts'
import type { ServiceConfig } from './config.ts'
import type { ServiceContext } from './context.ts'
import type { ServicePart } from './open-parts.ts'
import { type Reload, reloadFile } from './reload.ts'
import type { Source } from './source.ts'
import type { Stores } from './stores.ts'

/** The workers of a process. */
export interface Workers extends ServicePart {
  /**
   * Prices the stored swaps that have no price. Call it when SOL prices were added to the store.
   */
  onPricesStored(): Promise<void>
  /** Reads `STRATEGIES_FILE` again. Its strategies are in force from the next tick on. */
  readonly reload: Reload
}

/**
 * Starts the fold and the workers that follow what it stores: the check of links, missing prices,
 * facts about mints, rollups (rule I4), the watchlist with the pools of its tokens, and filter
 * strategies (rule G5). Without an RPC server there are no mint facts and no pools.
 */
export async function startWorkers(
  context: ServiceContext,
  { store, log }: Pick<Stores, 'store' | 'log'>,
  source: Source | null,
): Promise<Workers> {
  const { config, logger, registry } = context
  const { privacySalt: salt, solPriceMaxAgeSeconds } = config
  const deps = { store, log, logger, registry, onBug: context.fail }
  const listeners: ((swaps: readonly Swap[]) => void)[] = []
  const strategies = await readStrategies(config)
  let links: LinkCheckWorker | undefined
  let fill: PriceFillWorker | undefined
  const fold = await startFold({
    ...deps,
    salt,
    onStage: context.onStage,
    onStored: (stored) => links?.note(stored),
    onSwaps: (swaps) => {
      for (const listen of listeners) listen(swaps)
    },
    onUnpriced: () => void fill?.fillNow(),
  })
  links = startLinkCheck({ ...deps, fold })
  fill = startPriceFill({ ...deps, books: fold, maxAgeSeconds: solPriceMaxAgeSeconds })
  listeners.push(fill.note)
  const { facts, pools } = startRpcWorkers(deps, chainOf(config, source))
  if (facts) listeners.push((swaps) => facts.note(swaps.map((swap) => swap.baseMint)))
  const signals = createStrategyRunner({ ...deps, strategies })
  // Among several worker processes, the one that has partition 0 computes.
  const isMine = () => fold.partitions().includes(0)
  const trending = startTrending(
    {
      ...deps,
      onTick: signals.onTick,
      metrics: createTrendingMetrics(registry),
      isMine,
      pools,
    },
    { salt, solPriceMaxAgeSeconds },
  )
  // With a salt the views do not read rollups, which have true figures.
  const rollups =
    salt === null ? startRollups({ ...deps, metrics: createRollupMetrics(registry), isMine }) : null
  return {
    onPricesStored: fill.fillNow,
    reload: reloadStrategies(context, signals.replace),
    async close() {
      signals.stop()
      // All at once: a price fill may wait for the fold, which waits for a lost store for a while.
      await Promise.all([
        ...[facts?.stop(), fill?.stop(), trending.stop(), pools?.stop()],
        ...[rollups?.stop(), links?.stop(), fold.stop()],
      ])
    },
  }
}

/** The chain that workers read: an RPC server and a stream of accounts. */
interface Chain {
  readonly rpcUrl: string | null
  /** Servers of a stream of pool accounts. Null: prices come from the newest swaps. */
  readonly servers: StreamServers | null
}

/** The chain of `source`; without a source, of `SOLANA_RPC_URL` and `YELLOWSTONE_ENDPOINT`. */
function chainOf(config: ServiceConfig, source: Source | null): Chain {
  return source ?? { rpcUrl: config.rpcUrl?.href ?? null, servers: config.yellowstone }
}

/** Starts the workers that need an RPC server; null for those that cannot run. */
function startRpcWorkers(
  deps: Pick<ServiceContext, 'logger' | 'registry'> & {
    readonly store: Stores['store']
    readonly log: Stores['log']
    readonly onBug: (error: unknown) => void
  },
  { rpcUrl: url, servers }: Chain,
) {
  const metrics = createMintFactsMetrics(deps.registry)
  if (url === null) {
    deps.logger.info('without SOLANA_RPC_URL there are no facts about mints')
    return { facts: null, pools: null }
  }
  const facts = startMintFacts({
    ...deps,
    metrics,
    rpc: createRpc({ url, metrics, concurrency: 1 }),
  })
  if (servers === null) return { facts, pools: null }
  const pools = new PoolWatch(servers[0], {
    ...deps,
    openStream: openAmong(servers, { ...deps, open: openUpdateStream }),
    metrics: createPoolMetrics(deps.registry),
    rpc: createRpc({ url, metrics, concurrency: 1 }),
  })
  return { facts, pools }
}

async function readStrategies({
  strategiesFile: file,
}: ServiceConfig): Promise<readonly Strategy[]> {
  return parseStrategies(await readTextFile('STRATEGIES_FILE', file), file)
}

function reloadStrategies(
  { config, logger }: Pick<ServiceContext, 'config' | 'logger'>,
  replace: (strategies: readonly Strategy[]) => void,
): Reload {
  return reloadFile(logger, 'strategies not read again, the old ones stay in force', async () => {
    const strategies = await readStrategies(config)
    replace(strategies)
    logger.info({ strategies: strategies.length }, 'strategies read again')
  })
}
