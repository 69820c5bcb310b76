import type { Accounts } from '../../api/accounts/accounts.ts'
import type { Prices } from '../../api/billing/terms.ts'
import type { Ledger } from '../../api/credits/ledger.ts'
import type { Turns } from '../../api/turns.ts'
import type { EventLog } from '../../pipeline/log/log.ts'
import type { Store } from '../../pipeline/store/store.ts'
import type { Backfills } from '../../pipeline/workers/backfill/backfills.ts'
import type { Caller } from './caller.ts'

/** What operator commands work with: the service's own parts, in the process that owns the data. */
export interface OperatorParts {
  readonly store: Store
  /** Who gave the command, for the audit log. */
  readonly caller: Caller
  /** `OPERATOR_CONFIRM_CREDITS`: changes of more credits need a code. */
  readonly confirmAboveCredits: number
  /** `CLICKHOUSE_READER_URL`: who asks for `sql` on a server of ClickHouse; null: nobody. */
  readonly readerUrl: URL | null
  /** The log of wallet events; a command that needs none does not open it. Where it is in memory, a fold worker reads it. */
  readonly log: () => Promise<EventLog>
  /** `SOL_PRICE_MAX_AGE_SECONDS`. */
  readonly solPriceMaxAgeSeconds: number
  /** `PRIVACY_SALT` (rule I2). */
  readonly salt: string | null
  /** Fetches history over RPC; `bad_config` where no RPC server is named. */
  readonly backfills: () => Promise<Backfills>
  /** Aborted when whoever gave the command went away, or the process stops. */
  readonly stop: AbortSignal
  /** What deposits buy. */
  readonly prices: Prices
  /** One thing at a time about an account. */
  readonly turns: Turns
  readonly ledger: Ledger
  readonly accounts: Accounts
}
