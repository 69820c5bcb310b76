import { createAccountLocks } from '../../api/account-locks.ts'
import { Accounts } from '../../api/accounts/accounts.ts'
import { type AccountChannel, createMemoryChannel } from '../../api/channel/account-channel.ts'
import { createRedisChannel } from '../../api/channel/redis.ts'
import { Credits } from '../../api/credits/credits.ts'
import { Ledger } from '../../api/credits/ledger.ts'
import { createMemoryMeter } from '../../api/credits/memory.ts'
import type { Meter } from '../../api/credits/meter.ts'
import { createRedisMeter } from '../../api/credits/redis.ts'
import { connectRedis, type Redis } from '../../api/redis-connection.ts'
import type { Logger } from '../../pipeline/runtime/logger.ts'
import type { Store } from '../../pipeline/store/store.ts'
import { createTimelyStore } from '../../pipeline/store/timely-store.ts'
import type { ServiceConfig } from './config.ts'

/** Accounts and their credits, over one store and one meter. */
export interface CreditSystem {
  readonly meter: Meter
  readonly ledger: Ledger
  readonly credits: Credits
  readonly accounts: Accounts
}

/**
 * Opens the meter that the configuration names. Rejects with `unreachable` or `bad_config`, naming
 * the key.
 */
export async function openMeter(config: ServiceConfig['meter'], logger: Logger): Promise<Meter> {
  return config.kind === 'redis' ? createRedisMeter(config.url, { logger }) : createMemoryMeter()
}

/**
 * Opens the Redis connection for rate limits and account locks; null without Redis. It is separate
 * from the meter's, because its commands time out sooner than a charge may.
 */
export async function openLimitsRedis(
  config: ServiceConfig['meter'],
  logger: Logger,
): Promise<Redis | null> {
  if (config.kind === 'memory') return null
  return connectRedis(config.url, logger, { enableAutoPipelining: true, commandTimeout: 250 })
}

/**
 * Opens the channel on which API processes exchange account events (rule F6). Rejects with
 * `unreachable` or `bad_config`, naming the key.
 */
export async function openChannel(
  config: ServiceConfig['meter'],
  logger: Logger,
): Promise<AccountChannel> {
  return config.kind === 'redis' ? createRedisChannel(config.url, logger) : createMemoryChannel()
}

/**
 * Makes ledger, credits and accounts over a store and a meter, which the caller closes. Processes
 * lock accounts through `redis`; null when there is one process.
 */
export function createCreditSystem(
  store: Store,
  meter: Meter,
  logger: Logger,
  redis: Redis | null,
): CreditSystem {
  const ledger = new Ledger({ store, meter })
  const credits = new Credits({ meter, ledger, logger })
  const accounts = new Accounts({
    store: createTimelyStore(store, READ_MS),
    ledger,
    locks: createAccountLocks(redis),
  })
  return { meter, ledger, credits, accounts }
}

/** Timeout of a read from the store, in milliseconds. */
const READ_MS = 10_000
