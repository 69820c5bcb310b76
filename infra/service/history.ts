import type { Store } from '../../pipeline/store/store.ts'
import { AutoBackfill } from '../../pipeline/workers/backfill/auto-backfill.ts'
import { type Backfills, createBackfills } from '../../pipeline/workers/backfill/backfills.ts'
import { checkWallets, trackWallets } from '../../pipeline/workers/ingest/track-wallets.ts'
import type { ServiceContext } from './context.ts'
import type { ServicePart } from './open-parts.ts'
import type { ProgramNames } from './program-labels.ts'
import type { Source, WalletList } from './source.ts'
import type { Stores } from './stores.ts'

/** Tracks wallets and backfills their history. */
export interface TrackedHistory extends ServicePart {
  /** Source of the transactions. */
  readonly source: Source
  readonly backfills: Backfills
  readonly autoBackfill: AutoBackfill
  /** Tracks the wallets of a list; the history of new ones will be backfilled. */
  track(wallets: WalletList): Promise<void>
}

/** Makes the backfills of a process that ingests from `source`. */
export function openHistory(
  { config, logger, ingestMetrics, fail }: ServiceContext,
  { store, log }: Pick<Stores, 'store' | 'log'>,
  source: Source,
  { programs }: Pick<ProgramNames, 'programs'>,
): TrackedHistory {
  const metrics = ingestMetrics()
  const backfills = createBackfills({
    store,
    log,
    logger,
    logIsDurable: config.log.kind === 'kafka',
    rpcUrl: source.rpcUrl,
    programs,
    metrics,
    priceMaxAgeSeconds: config.solPriceMaxAgeSeconds,
    refusalMs: config.refusalMs,
  })
  const autoBackfill = new AutoBackfill({
    store,
    backfills,
    metrics,
    logger,
    onBug: fail,
  })
  return {
    source,
    backfills,
    autoBackfill,
    async track({ addresses, lines }) {
      await trackWallets(store, addresses, source.walletsFile, {
        lines,
        // A new installation fetches the simulator's history, which is short. That of a real chain
        // is fetched only on request.
        allJoin: source.history !== null,
        onJoining: autoBackfill.onAdded,
      })
    },
    close: async () => backfills.close(),
  }
}

/** Rejects with `bad_wallets_file` if a stored wallet is changed or missing in the list. */
export async function checkTrackedWallets(store: Store, source: Source): Promise<void> {
  const { wallets, walletsFile } = source
  await checkWallets(store, wallets.addresses, walletsFile, wallets.lines)
}
