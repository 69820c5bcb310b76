import { resolve } from 'node:path'
import { createAccountLocks } from '../../api/account-locks.ts'
import { pricesOf } from '../../api/billing/terms.ts'
import { ServiceError } from '../../pipeline/domain/service-error.ts'
import { createIngestMetrics } from '../../pipeline/ingest/telemetry.ts'
import { createKafkaLog } from '../../pipeline/log/kafka.ts'
import type { EventLog } from '../../pipeline/log/log.ts'
import { createMemoryLog } from '../../pipeline/log/memory.ts'
import { createLogger, type Logger } from '../../pipeline/runtime/logger.ts'
import { createRegistry } from '../../pipeline/runtime/telemetry.ts'
import { hasChdb } from '../../pipeline/store/chdb.ts'
import { createStore } from '../../pipeline/store/create-store.ts'
import type { Store } from '../../pipeline/store/store.ts'
import { readPartitions } from '../../pipeline/store/tables/progress.ts'
import { type Backfills, createBackfills } from '../../pipeline/workers/backfill/backfills.ts'
import { startFold } from '../../pipeline/workers/fold/fold.ts'
import type { DataConfig } from '../service/config.ts'
import {
  createCreditSystem,
  openChannel,
  openLimitsRedis,
  openMeter,
} from '../service/credit-system.ts'
import { type OpenParts, openInOrder } from '../service/open-parts.ts'
import { openProgramNames, type ProgramNames } from '../service/program-labels.ts'
import { applySchema } from '../service/stores.ts'
import { currentCaller } from './caller.ts'
import type { CommandResult } from './command.ts'
import { leavesSchema, makesDatabase, runCommand } from './commands.ts'
import type { OperatorParts } from './parts.ts'
import type { Report } from './progress.ts'
import { stopOnSignal } from './stop-on-signal.ts'

/**
 * Runs a command in this process, on data that no running process owns. Rejects with `bad_config`
 * when `DATA_DIR` has no database, unless the command may make one.
 */
export async function runHere(
  config: DataConfig,
  args: readonly string[],
  report: Report,
  onBug: (error: unknown) => void,
): Promise<CommandResult> {
  const { store, dataDir } = config
  if (store.kind === 'chdb' && !makesDatabase(args) && !hasChdb(store.path))
    throw new ServiceError(
      'bad_config',
      `DATA_DIR: ${resolve(dataDir)} has no database; set DATA_DIR to the folder of the service, or CLICKHOUSE_URL to its server`,
    )
  const { operator, close } = await openInOrder(async (parts) => ({
    operator: await openOperatorParts(config, parts, onBug, !leavesSchema(args)),
  }))
  try {
    return await runCommand(args, operator, report)
  } finally {
    await close()
  }
}

async function openOperatorParts(
  config: DataConfig,
  parts: OpenParts,
  onBug: (error: unknown) => void,
  makesTables: boolean,
): Promise<OperatorParts> {
  const logger = createLogger(config.logLevel).child({ pid: process.pid, roles: 'operator' })
  const names = await openProgramNames(config.labelsFile)
  const store = parts.add(await createStore(config.store, logger))
  if (makesTables) await applySchema(store, logger)
  const meter = parts.add(await openMeter(config.meter, logger))
  const redis = await openLimitsRedis(config.meter, logger)
  if (redis) parts.add({ close: async () => redis.disconnect() })
  const { ledger, accounts } = createCreditSystem(store, meter, logger, redis)
  const log = parts.add(openOnce(() => openLog(config, store, logger, onBug)))
  const readLog = async () => (await log.get()).log
  const backfills = parts.add(openOnce(() => openBackfills(config, store, readLog, names, logger)))
  const channel = parts.add(openOnce(() => openChannel(config.meter, logger)))
  const stop = stopOnSignal()
  // Also ends a request that the RPC server does not answer.
  stop.addEventListener('abort', () => void backfills.close())
  return {
    ...config,
    store,
    storeConfig: config.store,
    log: readLog,
    backfills: () => backfills.get(),
    ledger,
    accounts,
    locks: createAccountLocks(redis),
    channel: () => channel.get(),
    prices: pricesOf(config.billing),
    salt: config.privacySalt,
    names,
    caller: currentCaller(),
    stop,
  }
}

/** Opens a part lazily: the first `get` opens it, and `close` closes it if it was opened. */
function openOnce<T extends { close(): void | Promise<void> }>(open: () => Promise<T>) {
  let opened: Promise<T> | undefined
  return {
    get: () => {
      opened ??= open()
      return opened
    },
    async close() {
      const part = await opened?.catch(() => null)
      await part?.close()
    },
  }
}

/**
 * Opens the log. A log in memory has no other reader, because no process owns the data. So a fold
 * worker of this process reads it.
 */
async function openLog(
  config: DataConfig,
  store: Store,
  logger: Logger,
  onBug: (error: unknown) => void,
): Promise<{ readonly log: EventLog; close(): Promise<void> }> {
  const registry = createRegistry()
  if (config.log.kind === 'kafka') {
    const log = await createKafkaLog(config.log, { logger, registry }, await readPartitions(store))
    return { log, close: () => log.close() }
  }
  const log = createMemoryLog({ logger, registry })
  const fold = await startFold({ store, log, logger, registry, onBug, salt: config.privacySalt })
  return {
    log,
    async close() {
      await fold.stop()
      await log.close()
    },
  }
}

/** Makes backfills of this process alone. Rejects with `bad_config` without an RPC server. */
async function openBackfills(
  config: DataConfig,
  store: Store,
  readLog: () => Promise<EventLog>,
  { programs }: ProgramNames,
  logger: Logger,
): Promise<Backfills> {
  const { rpcUrl, solPriceMaxAgeSeconds: priceMaxAgeSeconds } = config
  if (rpcUrl === null)
    throw new ServiceError(
      'bad_config',
      'SOLANA_RPC_URL: required, because no service with an RPC server runs here',
    )
  return createBackfills({
    store,
    log: await readLog(),
    logIsDurable: config.log.kind === 'kafka',
    rpcUrl: rpcUrl.href,
    programs,
    priceMaxAgeSeconds,
    refusalMs: config.refusalMs,
    logger,
    metrics: createIngestMetrics(createRegistry()),
  })
}
