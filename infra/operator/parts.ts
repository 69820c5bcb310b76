import type { AccountLocks } from '../../api/account-locks.ts'
import type { Accounts } from '../../api/accounts/accounts.ts'
import type { Prices } from '../../api/billing/terms.ts'
import type { AccountChannel } from '../../api/channel/account-channel.ts'
import type { Ledger } from '../../api/credits/ledger.ts'
import type { EventLog } from '../../pipeline/log/log.ts'
import type { Store, StoreConfig } from '../../pipeline/store/store.ts'
import type { Backfills } from '../../pipeline/workers/backfill/backfills.ts'
import type { DataConfig } from '../service/config.ts'
import type { ProgramNames } from '../service/program-labels.ts'
import type { Caller } from './caller.ts'

/**
 * Dependencies of operator commands. In the process that owns the data, they are the parts of that
 * process.
 */
export interface OperatorParts
  extends Pick<
    DataConfig,
    'confirmAboveCredits' | 'readerUrl' | 'solPriceMaxAgeSeconds' | 'transactionBytesDays'
  > {
  readonly store: Store
  /** Where `store` is. */
  readonly storeConfig: StoreConfig
  /** `PRIVACY_SALT` (rule I2). */
  readonly salt: string | null
  /** The user who ran the command, for the audit log. */
  readonly caller: Caller
  /** Opens the log of wallet events at the first call. A fold worker reads a log in memory. */
  readonly log: () => Promise<EventLog>
  /** The names of programs in force: of the service, or of `PROGRAM_LABELS_FILE`. */
  readonly names: ProgramNames
  /** Opens backfills at the first call; rejects with `bad_config` without an RPC server. */
  readonly backfills: () => Promise<Backfills>
  /** Aborted when the caller disconnects or the process stops. */
  readonly stop: AbortSignal
  /** The prices of what deposits buy. */
  readonly prices: Prices
  /** Serialises changes of an account. */
  readonly locks: AccountLocks
  /** Opens the channel to the processes of the API at the first call. */
  readonly channel: () => Promise<Pick<AccountChannel, 'rotated' | 'keyDeleted' | 'accessChanged'>>
  readonly ledger: Ledger
  readonly accounts: Accounts
}
