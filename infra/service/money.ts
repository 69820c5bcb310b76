import { Accounts } from '../../api/accounts/accounts.ts'
import { type AccountChannel, createMemoryChannel } from '../../api/channel/account-channel.ts'
import { createRedisChannel } from '../../api/channel/redis.ts'
import { Credits } from '../../api/credits/credits.ts'
import { Ledger } from '../../api/credits/ledger.ts'
import { createMemoryMeter } from '../../api/credits/memory.ts'
import type { Meter } from '../../api/credits/meter.ts'
import { createRedisMeter } from '../../api/credits/redis.ts'
import { connectRedis, type Redis } from '../../api/redis-connection.ts'
import { createTurns } from '../../api/turns.ts'
import type { Logger } from '../../pipeline/runtime/logger.ts'
import type { Store } from '../../pipeline/store/store.ts'
import { createTimelyStore } from '../../pipeline/store/timely-store.ts'
import type { ServiceConfig } from './config.ts'

/** What knows of accounts and their credits, over one store and one meter. */
export interface Money {
  readonly meter: Meter
  readonly ledger: Ledger
  readonly credits: Credits
  readonly accounts: Accounts
}

/** Opens the meter that the configuration names. Rejects with `unreachable` or `bad_config`, naming the key. */
export async function openMeter(config: ServiceConfig['meter'], logger: Logger): Promise<Meter> {
  return config.kind === 'redis' ? createRedisMeter(config.url, { logger }) : createMemoryMeter()
}

/**
 * The connection that rate limits count on: its own, because it may be given up sooner than a charge. Null without Redis.
 */
export async function openLimits(
  config: ServiceConfig['meter'],
  logger: Logger,
): Promise<Redis | null> {
  if (config.kind === 'memory') return null
  return connectRedis(config.url, logger, { enableAutoPipelining: true, commandTimeout: 250 })
}

/** What the processes of the API tell each other of accounts (rule F6). */
export async function openChannel(
  config: ServiceConfig['meter'],
  logger: Logger,
): Promise<AccountChannel> {
  return config.kind === 'redis' ? createRedisChannel(config.url, logger) : createMemoryChannel()
}

/** Puts ledger and accounts over a store and a meter; whoever opened these closes them. `redis`: where processes take turns; null: there is one. */
export function createMoney(
  store: Store,
  meter: Meter,
  logger: Logger,
  redis: Redis | null,
): Money {
  const ledger = new Ledger({ store, meter })
  const credits = new Credits({ meter, ledger, logger })
  const accounts = new Accounts({
    store: createTimelyStore(store, READ_MS),
    ledger,
    turns: createTurns(redis),
  })
  return { meter, ledger, credits, accounts }
}

/** How long a question to the store may take. */
const READ_MS = 10_000
