import { Accounts } from '../../api/accounts/accounts.ts'
import { Credits } from '../../api/credits/credits.ts'
import { Ledger } from '../../api/credits/ledger.ts'
import { createMemoryMeter } from '../../api/credits/memory.ts'
import type { Meter } from '../../api/credits/meter.ts'
import { createRedisMeter } from '../../api/credits/redis.ts'
import type { Logger } from '../../pipeline/runtime/logger.ts'
import type { Store } from '../../pipeline/store/store.ts'
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

/** Puts ledger and accounts over a store and a meter; whoever opened these closes them. */
export function createMoney(store: Store, meter: Meter, logger: Logger): Money {
  const ledger = new Ledger({ store, meter })
  const credits = new Credits({ meter, ledger, logger })
  return { meter, ledger, credits, accounts: new Accounts({ store, ledger }) }
}
