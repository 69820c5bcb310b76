import { startHealthServer } from '../../pipeline/runtime/health-server.ts'
import type { OnStage } from '../../pipeline/runtime/slot-stage.ts'
import { collectProcessMetrics, collectReadiness } from '../../pipeline/runtime/telemetry.ts'
import { keepTransactions } from '../../pipeline/store/tables/transactions.ts'
import { readApiSecrets, readFeedSecrets, serveApi } from './api.ts'
import { ownsData, type ServiceConfig } from './config.ts'
import { createContext, type ServiceContext } from './context.ts'
import { openChannel } from './credit-system.ts'
import { startFailover } from './failover.ts'
import { checkTrackedWallets, openHistory } from './history.ts'
import { startIngestion } from './ingestion.ts'
import { type OpenParts, openInOrder, type ServicePart } from './open-parts.ts'
import { startOperatorSocket } from './operator-socket.ts'
import { readPastSolPrices, storePastSolPrices } from './past-sol-prices.ts'
import { openPayments } from './payments.ts'
import { openProgramNames, reloadLabels } from './program-labels.ts'
import { type Reload, reloadAll } from './reload.ts'
import { openSource } from './source.ts'
import { applySchema, openStores } from './stores.ts'
import { openTraces } from './traces.ts'
import { startWebhooks } from './webhooks.ts'
import { startWorkers } from './workers.ts'

/** A running process of the service, in the roles of its configuration. */
export interface Service {
  /** Lines for stdout: the URL, and for a demo service a key and an example call (rule J1). */
  readonly lines: readonly string[]
  /** Rejects when the process has to end: a bug, or a log that cannot recover. */
  readonly failed: Promise<never>
  /**
   * Reads `JWT_KEYS_FILE`, `PROGRAM_LABELS_FILE`, `WALLETS_FILE` and `STRATEGIES_FILE` again (rule
   * J5). A bad file is logged, and its previous content stays in force.
   */
  readonly reload: Reload
  /** Stops accepting work, drains in-flight work, then closes every dependency. */
  stop(): Promise<void>
}

/** Callbacks that observe a running service. */
export interface ServiceHooks {
  readonly onStage?: OnStage
}

/**
 * Starts the roles that the configuration names, after `preflight`. Rejects with a ServiceError
 * that names the key, file or line at fault. Parts opened until then are closed again, and nothing
 * is written before every input has been read.
 */
export async function startService(
  config: ServiceConfig,
  hooks: ServiceHooks = {},
): Promise<Service> {
  const context = createContext(config, hooks.onStage)
  const { logger, failed } = context
  const { lines, reloads, close } = await openInOrder(
    (parts) => startSteps(context, parts),
    context.readiness,
  )
  logger.info('service started')
  return {
    lines,
    failed,
    reload: reloadAll(reloads),
    async stop() {
      logger.info('service stops')
      await close()
      logger.info('service stopped')
    },
  }
}

/** The steps of a start, each after those that it needs. Their parts close in reverse order. */
async function startSteps(
  context: ServiceContext,
  parts: OpenParts,
): Promise<{ readonly lines: readonly string[]; readonly reloads: readonly Reload[] }> {
  const { config, logger } = context
  const { roles, metricsPort } = config
  const step = stepsOf(parts)

  const traces = await step(config.tracesEndpoint, (endpoint) => openTraces(context, endpoint))
  const source = await step(roles.has('ingest'), () => openSource(config.source))
  const solPrices = await readPastSolPrices(config, source)
  const names = await openProgramNames(roles.has('ingest') ? config.labelsFile : null)
  const stores = parts.add(await openStores(context))
  if (source) await checkTrackedWallets(stores.store, source)
  const secrets = roles.has('api') ? await readApiSecrets(config) : null
  const feedSecrets = roles.has('webhooks') ? (secrets ?? (await readFeedSecrets(config))) : null
  await applySchema(stores.store, logger)
  if (roles.has('workers')) await keepTransactions(stores.store, config.transactionBytesDays)

  const payments = await step(roles.has('api') || roles.has('ingest'), () =>
    openPayments(context, stores, source),
  )
  const history = await step(source, (source) => openHistory(context, stores, source, names))
  await history?.track(history.source.wallets)
  const channel = await step(secrets ?? ownsData(config), () => openChannel(config.meter, logger))
  await step(ownsData(config) && channel, (channel) =>
    startOperatorSocket(context, { ...stores, channel }, names, history),
  )
  const api = await step(secrets && channel && { secrets, channel }, (given) =>
    serveApi(context, stores, { ...given, payments, source, addSpan: traces?.add }),
  )
  await step(feedSecrets, (secrets) =>
    startWebhooks(context, stores, { secrets, feed: api?.feed ?? null }),
  )
  const workers = await step(roles.has('workers'), () => startWorkers(context, stores, source))
  const load = await step(solPrices.length > 0 && (source ?? workers), () =>
    storePastSolPrices(context, stores.store, solPrices, () => void workers?.onPricesStored()),
  )
  await step(metricsPort !== 0, () => startMetricsServer(context))
  const ingestion = await step(history, (history) =>
    (config.ingestFailover ? startFailover : startIngestion)(context, stores, {
      history,
      names,
      payments,
      solPrices,
      pricesStored: load?.ended,
    }),
  )
  traces?.follow(stores.log)
  const readLabels = roles.has('ingest') ? reloadLabels(context, names) : null
  const reloads = [api?.reload, readLabels, ingestion?.reload, workers?.reload]
  return { lines: api?.lines ?? [], reloads: reloads.filter((reload) => reload != null) }
}

/**
 * Returns a function that runs a step and adds the part that it opened to `parts`. It skips the
 * step if `need` is null or false. A step that has nothing to open returns null.
 */
function stepsOf(parts: OpenParts) {
  return async <Need, T extends ServicePart>(
    need: Need | null | false,
    start: (need: Need) => T | null | Promise<T | null>,
  ): Promise<T | null> => {
    const part = need === null || need === false ? null : await start(need)
    return part && parts.add(part)
  }
}

/** Serves metrics, liveness and readiness on `METRICS_PORT` (rules D7, J4). */
function startMetricsServer({ config, registry, readiness }: ServiceContext): Promise<ServicePart> {
  collectProcessMetrics(registry)
  collectReadiness(registry, readiness)
  const { HOST: host } = config.api
  return startHealthServer({ host, port: config.metricsPort, registry, readiness })
}
