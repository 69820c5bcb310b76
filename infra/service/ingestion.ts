import { ServiceError } from '../../pipeline/domain/service-error.ts'
import type { SolPrice } from '../../pipeline/domain/slot.ts'
import { createWallets } from '../../pipeline/domain/wallets.ts'
import { createRpc } from '../../pipeline/ingest/rpc/rpc.ts'
import { openAmong } from '../../pipeline/ingest/stream/endpoints.ts'
import {
  type OpenUpdateStream,
  openUpdateStream,
} from '../../pipeline/ingest/stream/yellowstone.ts'
import type { ReadyCheck } from '../../pipeline/runtime/readiness.ts'
import { readStoredPrices } from '../../pipeline/store/tables/sol-prices.ts'
import { type Ingest, startIngest } from '../../pipeline/workers/ingest/ingest.ts'
import { readResumePoint } from '../../pipeline/workers/ingest/resume-point.ts'
import { startBreakRepairs } from '../../pipeline/workers/links/repair-breaks.ts'
import { startSnapshots } from '../../pipeline/workers/links/snapshots.ts'
import type { ServiceContext } from './context.ts'
import type { TrackedHistory } from './history.ts'
import type { ServicePart } from './open-parts.ts'
import type { PaymentWatch } from './payments.ts'
import type { ProgramNames } from './program-labels.ts'
import { type Reload, reloadFile } from './reload.ts'
import type { Source, WalletList } from './source.ts'
import type { Stores } from './stores.ts'

/** Pool prices that ingest starts with: two hours of them, twice the age that a price may have. */
const POOL_PRICES = 7200

/** Running ingest, with the backfills that it starts. */
export interface Ingestion extends ServicePart {
  readonly ready: { readonly ingest: ReadyCheck }
  /** Reads `WALLETS_FILE` again. */
  readonly reload: Reload
}

/** What ingest works with. */
export interface IngestionParts {
  readonly history: TrackedHistory
  readonly names: Pick<ProgramNames, 'programs'>
  readonly payments: PaymentWatch | null
  readonly solPrices: readonly SolPrice[]
  readonly pricesStored: Promise<void> | undefined
  /** The wallets tracked now, if they were read again since the start of the process. */
  readonly wallets?: WalletList
  /** Opens streams; by default from the servers of the source. */
  readonly openStream?: OpenUpdateStream
}

/**
 * Starts to ingest from the source of `history`. Automatic backfills begin once the first slot has
 * been handed over and `pricesStored` has resolved, because fetched transactions take stored
 * prices. Without prices to store, `pricesStored` is undefined.
 */
export async function startIngestion(
  context: ServiceContext,
  { store, log }: Pick<Stores, 'store' | 'log'>,
  parts: IngestionParts,
): Promise<Ingestion> {
  const { config, fail } = context
  const metrics = context.ingestMetrics()
  const { history, names, payments, solPrices, pricesStored } = parts
  const { source, backfills, autoBackfill } = history
  const { wallets = source.wallets, openStream = openFrom(context, source) } = parts
  const ingest = await startIngest({
    ...context,
    config: {
      ...source,
      ...source.servers[0],
      selection: config.selection,
      priceMaxAgeSeconds: config.solPriceMaxAgeSeconds,
    },
    wallets: createWallets(wallets.addresses),
    programs: names.programs,
    log,
    resumePoint: () => readResumePoint({ ...context, log, store }),
    storedPrices: () => readStoredPrices(store, POOL_PRICES),
    prices: solPrices,
    limits: { refusalMs: config.refusalMs },
    metrics,
    deposits: payments?.deposits ?? null,
    openStream,
  })
  ingest.done.catch(fail)
  const beginBackfills = async () => {
    const newest = ingest.status()
    await pricesStored
    if (newest) await autoBackfill.begin(newest)
  }
  ingest.ready.then(beginBackfills).catch(fail)
  const following = { store, logger: context.logger, newest: ingest.status, onBug: fail }
  const repairs = startBreakRepairs({
    ...following,
    repairable: ingest.repairable,
    log,
    programs: names.programs,
    rpcUrl: source.rpcUrl,
    metrics,
    callsPerHour: config.repairCallsPerHour,
    refusalMs: config.refusalMs,
    priceMaxAgeSeconds: config.solPriceMaxAgeSeconds,
    feedSeconds: config.api.FEED_RETENTION_HOURS * 3600,
  })
  const snapshots = startSnapshots({
    ...following,
    rpc: createRpc({ url: source.rpcUrl, metrics, concurrency: 3 }),
  })
  return {
    ready: { ingest: async () => requireSealed(ingest) },
    reload: reloadWallets(context, history, ingest, wallets.addresses.length),
    async close() {
      const closed = Promise.all([autoBackfill.close(), repairs.stop(), snapshots.stop()])
      backfills.close() // ends backfills that wait for an RPC server, for which `closed` would wait
      await closed
      await ingest.stop()
    },
  }
}

/** Opens streams from the servers of a source. */
export function openFrom(
  { logger }: Pick<ServiceContext, 'logger'>,
  { servers }: Pick<Source, 'servers'>,
): OpenUpdateStream {
  return openAmong(servers, { open: openUpdateStream, logger })
}

function requireSealed(ingest: Pick<Ingest, 'status'>): void {
  if (ingest.status() !== null) return
  throw new ServiceError('unavailable', 'no slot sealed since the start')
}

function reloadWallets(
  { logger }: Pick<ServiceContext, 'logger'>,
  { source, track, autoBackfill }: TrackedHistory,
  ingest: Ingest,
  wallets: number,
): Reload {
  let followed = wallets
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
