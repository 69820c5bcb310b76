import { type Api, createApi } from '../../api/api.ts'
import { keptJwtKeys, readJwtKeys } from '../../api/auth/jwt-keys.ts'
import { pricesOf } from '../../api/billing/terms.ts'
import { apiConfig } from '../../api/config.ts'
import { createCursorCodec } from '../../api/cursor.ts'
import { keptSecretKey } from '../../api/secret-key.ts'
import { createFeed } from '../../api/stream/feed.ts'
import { createTurns } from '../../api/turns.ts'
import { createPerturb } from '../../pipeline/domain/perturbation.ts'
import { ServiceError } from '../../pipeline/domain/service-error.ts'
import { createWallets } from '../../pipeline/domain/wallets.ts'
import { mergeSolPrices, parseSolPrices } from '../../pipeline/ingest/sol-price.ts'
import { createIngestMetrics } from '../../pipeline/ingest/telemetry.ts'
import { createKafkaLog } from '../../pipeline/log/kafka.ts'
import { createMemoryLog } from '../../pipeline/log/memory.ts'
import { startHealthServer } from '../../pipeline/runtime/health-server.ts'
import { createLogger } from '../../pipeline/runtime/logger.ts'
import { createReadiness } from '../../pipeline/runtime/readiness.ts'
import type { OnStage } from '../../pipeline/runtime/slot-stage.ts'
import { collectProcessMetrics, createRegistry } from '../../pipeline/runtime/telemetry.ts'
import { createStore } from '../../pipeline/store/create-store.ts'
import { createSchemaCheck, migrate } from '../../pipeline/store/migrate.ts'
import { readPoolPrices } from '../../pipeline/store/read-pool-prices.ts'
import { readStorageMarker } from '../../pipeline/store/read-storage-marker.ts'
import { parseStrategies } from '../../pipeline/trending/strategies-file.ts'
import { createAutoBackfill } from '../../pipeline/workers/backfill/auto-backfill.ts'
import { createBackfills } from '../../pipeline/workers/backfill/backfills.ts'
import { startIngest } from '../../pipeline/workers/ingest/ingest.ts'
import { checkWallets, trackWallets } from '../../pipeline/workers/ingest/track-wallets.ts'
import { runCommand } from '../operator/commands.ts'
import { serveOperator } from '../operator/socket.ts'
import { createBilling, openPayments } from './billing.ts'
import { keepsData, type ServiceConfig } from './config.ts'
import { demoApiKey } from './demo-account.ts'
import { createMoney, openChannel, openLimits, openMeter } from './money.ts'
import { preflight } from './preflight.ts'
import { openSource, readTextFile, type WalletList } from './source.ts'
import { loadSolPrices, startWorkers } from './workers.ts'

/** Prices that ingest starts with: two hours of them, twice the age that a price may have. */
const POOL_PRICES = 7200

/** A running process of the service, in the roles of its configuration. */
export interface Service {
  /** What it tells on stdout: where it is, and with the demo market a key and a call to try (rule J1). */
  readonly lines: readonly string[]
  /** Rejects when the process is to end: a bug, or a log broken for good. */
  readonly failed: Promise<never>
  /**
   * Reads `JWT_KEYS_FILE`, `WALLETS_FILE` and `STRATEGIES_FILE` again (rule J5). A bad file is
   * logged, and what was read before stays in force.
   */
  reload(): Promise<void>
  /** Stops taking, finishes what is held, and closes everything. */
  stop(): Promise<void>
}

/** What somebody may want to be told of a running service. */
export interface ServiceHooks {
  readonly onStage?: OnStage
}

/**
 * Starts everything that the configuration names, each part after those it needs. Rejects with a ServiceError that names the key, file or line at
 * fault; what was opened until then is closed again, and nothing is written before every input has been read.
 */
export async function startService(
  config: ServiceConfig,
  hooks: ServiceHooks = {},
): Promise<Service> {
  const opened: (() => Promise<unknown>)[] = []
  const stop = async () => {
    for (const close of opened.splice(0).reverse()) await close()
  }
  try {
    return await start(config, hooks, opened, stop)
  } catch (error) {
    await stop()
    throw error
  }
}

async function start(
  config: ServiceConfig,
  { onStage }: ServiceHooks,
  opened: (() => Promise<unknown>)[],
  stop: () => Promise<void>,
): Promise<Service> {
  const { roles, dataDir } = config
  const logger = createLogger(config.logLevel)
  const registry = createRegistry()
  const readiness = createReadiness()
  const lines: string[] = []
  let fail: (error: unknown) => void = () => {}
  const failed = new Promise<never>((_, reject) => {
    fail = reject
  })
  failed.catch(() => {}) // whoever started it looks at it; until then it waits

  await preflight(config)
  const source = roles.has('ingest') ? await openSource(config.source) : null
  if (source) opened.push(() => source.close())
  const listed =
    config.solPricesFile === null
      ? []
      : parseSolPrices(
          await readTextFile('SOL_PRICES_FILE', config.solPricesFile),
          config.solPricesFile,
        )
  const prices = mergeSolPrices(source?.history?.solPrices ?? [], listed)

  const { strategiesFile } = config
  const readStrategies = async () =>
    parseStrategies(await readTextFile('STRATEGIES_FILE', strategiesFile), strategiesFile)
  const strategies = roles.has('workers') ? await readStrategies() : []

  const jwtKeysFile = config.api.JWT_KEYS_FILE
  const readKeys = async (file: string) =>
    readJwtKeys(await readTextFile('JWT_KEYS_FILE', file), 'JWT_KEYS_FILE')
  const jwtKeys = roles.has('api') && jwtKeysFile !== undefined ? await readKeys(jwtKeysFile) : null

  // The store comes last: opening an embedded one writes.
  const meter = await openMeter(config.meter, logger)
  opened.push(() => meter.close())
  const log =
    config.log.kind === 'kafka'
      ? await createKafkaLog(config.log, { logger, registry })
      : createMemoryLog({ logger, registry })
  opened.push(() => log.close())
  const store = await createStore(config.store)
  opened.push(() => store.close())
  const redis = await openLimits(config.meter, logger)
  if (redis) opened.push(async () => redis.disconnect())
  const money = createMoney(store, meter, logger, redis)
  readiness.add({
    store: () => store.ping(),
    schema: createSchemaCheck(store),
    log: () => log.ping(),
  })

  if (source)
    await checkWallets(store, source.wallets.addresses, source.walletsFile, source.wallets.lines)
  const secrets = roles.has('api')
    ? {
        secretKey: config.api.SECRET_KEY ?? (await keptSecretKey(dataDir)),
        jwtKeys: jwtKeys ?? (await keptJwtKeys(dataDir)),
      }
    : null
  const applied = await migrate(store)
  if (applied.length > 0) logger.info({ files: applied.length }, 'schema brought up to date')
  const ingestMetrics = createIngestMetrics(registry)
  const turns = createTurns(redis)
  const payments =
    roles.has('api') || roles.has('ingest')
      ? openPayments(config, { source, store, logger, metrics: ingestMetrics })
      : null
  if (payments) {
    opened.push(() => payments.close())
    payments.deposits.start()
    // Nobody else tells a developer where to send a payment to.
    if (config.source.kind === 'simulator' && source)
      logger.info({ rpc: source.rpcUrl }, 'the simulator takes payments over RPC')
  }
  const backfills =
    source &&
    createBackfills({
      store,
      log,
      logger,
      logIsDurable: config.log.kind === 'kafka',
      rpcUrl: source.rpcUrl,
      metrics: ingestMetrics,
      priceMaxAgeSeconds: config.solPriceMaxAgeSeconds,
    })
  if (backfills) opened.push(async () => backfills.close())
  const autoBackfill = backfills && createAutoBackfill({ store, backfills, logger, onBug: fail })
  const track = async ({ addresses, lines }: WalletList, file: string) =>
    trackWallets(store, addresses, file, {
      lines,
      allJoin: source?.history != null,
      ...(autoBackfill && { onJoining: autoBackfill.onAdded }),
    })
  if (source) await track(source.wallets, source.walletsFile)

  if (keepsData(config)) {
    const operator = await serveOperator(
      dataDir,
      (args, report, stop, caller) => {
        const openBackfills = async () => {
          if (backfills) return backfills
          throw new ServiceError('bad_config', 'ROLES: this process does not ingest')
        }
        const { solPriceMaxAgeSeconds, readerUrl, confirmAboveCredits } = config
        const audited = { caller, confirmAboveCredits }
        const own = { store, readerUrl, log: async () => log, backfills: openBackfills, stop }
        const billing = { prices: pricesOf(config.billing), turns }
        const computed = { solPriceMaxAgeSeconds, salt: config.privacySalt }
        const parts = { ...own, ...audited, ...billing, ...computed, ...money }
        return runCommand(args, parts, report)
      },
      logger,
    )
    opened.push(() => operator.close())
  }

  let api: Api | null = null
  if (secrets) {
    const { credits, accounts } = money
    const settings = apiConfig(config.api, secrets)
    const { connectionsPerKey, retentionHours, feedMessagesPerMinute } = settings
    const cursors = createCursorCodec(secrets.secretKey)
    const perturb = createPerturb(config.privacySalt)
    const channel = await openChannel(config.meter, logger)
    opened.push(() => channel.close())
    const feed = createFeed({
      channel,
      revokedSince: (unixMs) => accounts.revokedSince(unixMs),
      log,
      cursors,
      credits,
      connectionsPerKey,
      retentionHours,
      perturb,
      messagesPerMinute: feedMessagesPerMinute,
      logger,
      registry,
      onStage,
    })
    const created = createApi({
      config: settings,
      store,
      log,
      feed,
      credits,
      accounts,
      redis,
      channel,
      perturb,
      logger,
      registry,
      billing: payments && createBilling(payments, money, { store, turns }),
      testWallet: config.source.kind === 'simulator' && source ? { rpcUrl: source.rpcUrl } : null,
      readiness,
    })
    api = created
    const { url } = await created.listen()
    opened.push(() => created.close())
    lines.push(`url=${url}`)
    if (config.source.kind === 'simulator' && source && config.store.kind === 'chdb') {
      const key = await demoApiKey(dataDir, accounts)
      lines.push(`api_key=${key}`)
      lines.push(`curl -s -H 'Authorization: Bearer ${key}' '${url}/trades?limit=3'`)
    }
  }

  const rpcUrl = source?.rpcUrl ?? config.rpcUrl?.href ?? null
  const { solPriceMaxAgeSeconds } = config
  const workers = roles.has('workers')
    ? await startWorkers(
        { store, log, logger, registry, onBug: fail },
        {
          rpcUrl,
          solPriceMaxAgeSeconds,
          salt: config.privacySalt,
          strategies,
          stream: source
            ? { endpoint: source.endpoint, xToken: source.xToken }
            : config.yellowstone,
        },
      )
    : null
  if (workers) opened.push(() => workers.stop())
  const load =
    prices.length > 0 && (source || workers)
      ? loadSolPrices({ store, logger, onBug: fail }, prices, () => void workers?.fillNow())
      : null
  if (load) opened.push(() => load.stop())

  if (config.metricsPort !== 0) {
    const { HOST: host } = config.api
    collectProcessMetrics(registry)
    const server = await startHealthServer({ host, port: config.metricsPort, registry, readiness })
    opened.push(() => server.close())
  }

  const ingest = source
    ? await startIngest({
        config: {
          endpoint: source.endpoint,
          xToken: source.xToken,
          rpcUrl: source.rpcUrl,
          pricePool: source.pricePool,
          priceMaxAgeSeconds: config.solPriceMaxAgeSeconds,
        },
        wallets: createWallets(source.wallets.addresses),
        log,
        checkpoint: () =>
          config.log.kind === 'kafka' ? log.checkpoint() : readStorageMarker(store),
        poolPrices: () => readPoolPrices(store, POOL_PRICES),
        prices,
        logger,
        registry,
        onStage,
        metrics: ingestMetrics,
        deposits: payments?.deposits ?? null,
        ...(autoBackfill && { onGap: autoBackfill.onGap }),
      })
    : null
  if (ingest) {
    opened.push(() => ingest.stop())
    ingest.done.catch(fail)
    readiness.add({
      ingest: async () => {
        if (ingest.status() === null)
          throw new ServiceError('unavailable', 'no slot sealed since the start', {
            retriable: true,
          })
      },
    })
  }

  if (ingest && autoBackfill) {
    opened.push(async () => {
      const closed = autoBackfill.close()
      backfills?.close() // else what waits for an RPC server would be waited for
      await closed
    })
    const begin = async () => {
      const newest = ingest.status()
      // What is fetched takes the prices that are stored.
      await load?.ended
      if (newest) await autoBackfill.begin(newest)
    }
    ingest.ready.then(begin).catch(fail)
  }
  let followed = source?.wallets.addresses.length ?? 0
  let reloading = Promise.resolve()

  logger.info({ pid: process.pid, roles: [...roles] }, 'service started')

  async function reloadJwtKeys(): Promise<void> {
    if (api === null || jwtKeysFile === undefined) return
    try {
      const keys = await readKeys(jwtKeysFile)
      api.replaceJwtKeys(keys)
      logger.info({ keys: keys.published.length }, 'JWT keys read again')
    } catch (error) {
      logger.error(
        { reason: reasonOf(error) },
        'JWT keys not read again, the old ones stay in force',
      )
    }
  }

  async function reloadWallets(): Promise<void> {
    if (!source || !ingest) return
    try {
      const list = await source.readWallets()
      await track(list, source.walletsFile)
      const wallets = list.addresses.length
      const added = wallets - followed
      if (added > 0) {
        ingest.updateWallets(createWallets(list.addresses))
        followed = wallets
        void autoBackfill?.follow(ingest.status)
      }
      logger.info({ added, wallets }, 'wallets read again')
    } catch (error) {
      logger.error(
        { reason: reasonOf(error) },
        'wallets not read again, the old list stays in force',
      )
    }
  }

  async function reloadStrategies(): Promise<void> {
    if (!workers) return
    try {
      const strategies = await readStrategies()
      workers.replaceStrategies(strategies)
      logger.info({ strategies: strategies.length }, 'strategies read again')
    } catch (error) {
      logger.error(
        { reason: reasonOf(error) },
        'strategies not read again, the old ones stay in force',
      )
    }
  }

  return {
    lines,
    failed,
    reload() {
      reloading = reloading.then(reloadJwtKeys).then(reloadWallets).then(reloadStrategies)
      return reloading
    },
    async stop() {
      logger.info('service stops')
      await stop()
      logger.info('service stopped')
    },
  }
}

function reasonOf(error: unknown): string {
  return error instanceof ServiceError ? error.message : String(error)
}
