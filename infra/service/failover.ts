import { createWallets } from '../../pipeline/domain/wallets.ts'
import { startStandby } from '../../pipeline/workers/ingest/standby.ts'
import type { ServiceContext } from './context.ts'
import { type Ingestion, type IngestionParts, openFrom, startIngestion } from './ingestion.ts'
import { reloadFile } from './reload.ts'
import type { WalletList } from './source.ts'
import type { Stores } from './stores.ts'

/**
 * Stands by, and starts to ingest once no other process does (`INGEST_FAILOVER`, rule K14). Nothing
 * of role ingest runs before that, except that the tracked wallets are stored and payments are
 * followed, which several processes may do.
 */
export async function startFailover(
  context: ServiceContext,
  stores: Pick<Stores, 'store' | 'log'>,
  parts: IngestionParts,
): Promise<Ingestion> {
  const { logger, fail } = context
  const { source, track } = parts.history
  let wallets: WalletList = source.wallets
  const standby = await startStandby({
    config: { ...source, ...source.servers[0], selection: context.config.selection },
    open: openFrom(context, source),
    wallets: createWallets(wallets.addresses),
    deposits: parts.payments?.deposits ?? null,
    log: stores.log,
    logger,
  })
  let ingestion: Ingestion | null = null
  const leading = standby.elected.then(async (isElected) => {
    if (!isElected) return
    logger.warn('no other process appends: takes over')
    const { openStream } = standby
    const given = wallets
    ingestion = await startIngestion(context, stores, { ...parts, wallets: given, openStream })
    if (wallets !== given) await ingestion.reload() // read again meanwhile
  })
  leading.catch(fail)

  const reloadStandby = reloadFile(
    logger,
    'wallets not read again, the old list stays in force',
    async () => {
      const list = await source.readWallets()
      await track(list) // the leader backfills what is new
      wallets = list
      if (ingestion !== null) return ingestion.reload() // it took over meanwhile
      standby.updateWallets(createWallets(list.addresses))
      logger.info({ wallets: list.addresses.length }, 'wallets read again')
    },
  )
  return {
    ready: {
      ingest: () =>
        ingestion === null ? Promise.resolve('standby' as const) : ingestion.ready.ingest(),
    },
    reload: () => (ingestion ?? { reload: reloadStandby }).reload(),
    async close() {
      await standby.close()
      await leading.catch(() => {}) // reported by `fail`
      await ingestion?.close()
    },
  }
}
