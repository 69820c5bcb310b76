import { ServiceError } from '../../pipeline/domain/service-error.ts'
import type { SolPrice, Unfinalized } from '../../pipeline/domain/slot.ts'
import { createWallets } from '../../pipeline/domain/wallets.ts'
import { findSlotsAfter } from '../../pipeline/store/tables/decoded-rows.ts'
import { readStorageMarker } from '../../pipeline/store/tables/progress.ts'
import { readUnfinalizedSlots } from '../../pipeline/store/tables/sealed-slots.ts'
import { readPoolPrices } from '../../pipeline/store/tables/sol-prices.ts'
import { type Ingest, startIngest } from '../../pipeline/workers/ingest/ingest.ts'
import type { ServiceContext } from './context.ts'
import type { TrackedHistory } from './history.ts'
import type { ServicePart } from './open-parts.ts'
import type { PaymentWatch } from './payments.ts'
import { type Reload, reloadFile } from './reload.ts'
import type { Stores } from './stores.ts'

/** Pool prices that ingest starts with: two hours of them, twice the age that a price may have. */
const POOL_PRICES = 7200

/** Running ingest, with the backfills that it starts. */
export interface Ingestion extends ServicePart {
  /** Reads `WALLETS_FILE` again. */
  readonly reload: Reload
}

/**
 * Starts to ingest from the source of `history`. Automatic backfills begin once the first slot has
 * been handed over and `pricesStored` has resolved, because fetched transactions take stored
 * prices. Without prices to store, `pricesStored` is undefined.
 */
export async function startIngestion(
  context: ServiceContext,
  { store, log }: Pick<Stores, 'store' | 'log'>,
  parts: {
    readonly history: TrackedHistory
    readonly payments: PaymentWatch | null
    readonly solPrices: readonly SolPrice[]
    readonly pricesStored: Promise<void> | undefined
  },
): Promise<Ingestion> {
  const { config, logger, registry, ingestMetrics, onStage, fail } = context
  const { history, payments, solPrices, pricesStored } = parts
  const { source, backfills, autoBackfill } = history
  const ingest = await startIngest({
    config: {
      endpoint: source.endpoint,
      xToken: source.xToken,
      rpcUrl: source.rpcUrl,
      pricePool: source.pricePool,
      priceMaxAgeSeconds: config.solPriceMaxAgeSeconds,
    },
    wallets: createWallets(source.wallets.addresses),
    log,
    checkpoint: () => (config.log.kind === 'kafka' ? log.checkpoint() : readStorageMarker(store)),
    unfinalized: () => (config.log.kind === 'kafka' ? log.unfinalized() : readUnfinalized(store)),
    // A log in memory starts empty, so what is stored beyond the checkpoint is sealed again.
    ...(config.log.kind === 'kafka'
      ? {}
      : { storedBeyond: (slot: number) => findSlotsAfter(store, slot) }),
    poolPrices: () => readPoolPrices(store, POOL_PRICES),
    prices: solPrices,
    logger,
    registry,
    onStage,
    metrics: ingestMetrics,
    deposits: payments?.deposits ?? null,
    onGap: autoBackfill.onGap,
  })
  ingest.done.catch(fail)
  const beginBackfills = async () => {
    const newest = ingest.status()
    await pricesStored
    if (newest) await autoBackfill.begin(newest)
  }
  ingest.ready.then(beginBackfills).catch(fail)
  return {
    ready: { ingest: async () => requireSealed(ingest) },
    reload: reloadWallets(context, history, ingest),
    async close() {
      const closed = autoBackfill.close()
      backfills.close() // ends backfills that wait for an RPC server, for which `closed` would wait
      await closed
      await ingest.stop()
    },
  }
}

/** The sealed slots of storage that are not known to be final. */
async function readUnfinalized(store: Stores['store']): Promise<Unfinalized> {
  const marker = await readStorageMarker(store)
  return marker === null
    ? { finalized: null, markers: [] }
    : readUnfinalizedSlots(store, marker.slot)
}

function requireSealed(ingest: Pick<Ingest, 'status'>): void {
  if (ingest.status() !== null) return
  throw new ServiceError('unavailable', 'no slot sealed since the start', { retriable: true })
}

function reloadWallets(
  { logger }: Pick<ServiceContext, 'logger'>,
  { source, track, autoBackfill }: TrackedHistory,
  ingest: Ingest,
): Reload {
  let followed = source.wallets.addresses.length
  return reloadFile(logger, 'wallets not read again, the old list stays in force', async () => {
    const list = await source.readWallets()
    await track(list)
    const wallets = list.addresses.length
    const added = wallets - followed
    if (added > 0) {
      ingest.updateWallets(createWallets(list.addresses))
      followed = wallets
      void autoBackfill.follow(ingest.status)
    }
    logger.info({ added, wallets }, 'wallets read again')
  })
}
