import { type AccountLocks, createAccountLocks } from '../../api/account-locks.ts'
import type { Redis } from '../../api/redis-connection.ts'
import { createKafkaLog } from '../../pipeline/log/kafka.ts'
import type { EventLog } from '../../pipeline/log/log.ts'
import { createMemoryLog } from '../../pipeline/log/memory.ts'
import type { Logger } from '../../pipeline/runtime/logger.ts'
import { createStore } from '../../pipeline/store/create-store.ts'
import { createGuardedStore } from '../../pipeline/store/guarded-store.ts'
import { createSchemaCheck, migrate } from '../../pipeline/store/migrate.ts'
import { SQL_FOLDER } from '../../pipeline/store/schema-files.ts'
import type { Store } from '../../pipeline/store/store.ts'
import { readPartitions } from '../../pipeline/store/tables/progress.ts'
import { createWatchedStore } from '../../pipeline/store/watched-store.ts'
import type { ServiceContext } from './context.ts'
import {
  type CreditSystem,
  createCreditSystem,
  openLimitsRedis,
  openMeter,
} from './credit-system.ts'
import { openInOrder, type ServicePart } from './open-parts.ts'

/** Everything that keeps data: the meter, the log and the store, with accounts and credits. */
export interface Stores extends ServicePart, CreditSystem {
  readonly log: EventLog
  readonly store: Store
  /** The connection for rate limits and account locks; null without Redis. */
  readonly redis: Redis | null
  /** Serialises changes of an account. */
  readonly locks: AccountLocks
}

/**
 * Opens the meter, the store and the log that the configuration names. The log comes after the
 * store, which knows its number of partitions. Rejects with `unreachable` or `bad_config`, naming
 * the key.
 */
export async function openStores({ config, logger, registry }: ServiceContext): Promise<Stores> {
  const opened = await openInOrder(async (parts) => {
    const meter = parts.add(await openMeter(config.meter, logger))
    const opened = createWatchedStore(parts.add(await createStore(config.store, logger)), registry)
    const schema = createSchemaCheck(opened)
    const store = createGuardedStore(opened, schema)
    const log = parts.add(
      config.log.kind === 'kafka'
        ? await createKafkaLog(config.log, { logger, registry }, await readPartitions(store))
        : createMemoryLog({ logger, registry }),
    )
    const redis = await openLimitsRedis(config.meter, logger)
    if (redis) parts.add({ close: async () => redis.disconnect() })
    return { meter, log, store, schema, redis }
  })
  const { meter, log, store, schema, redis } = opened
  return {
    ...opened,
    ...createCreditSystem(store, meter, logger, redis),
    locks: createAccountLocks(redis),
    ready: {
      store: () => store.ping(),
      schema,
      log: () => log.ping(),
      format: () => log.checkFormat(),
    },
  }
}

/**
 * Applies the files of `sql/` that are new to the store. Warns before one with which processes of
 * older versions cannot go on (rule K19).
 */
export async function applySchema(store: Store, logger: Logger): Promise<void> {
  const applied = await migrate(store, SQL_FOLDER, ({ name, why }) =>
    logger.warn({ file: `sql/${name}`, why }, 'older processes cannot go on with this schema file'),
  )
  if (applied.length > 0) logger.info({ files: applied.length }, 'schema brought up to date')
}
