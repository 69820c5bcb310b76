import type { Accounts } from '../../api/accounts/accounts.ts'
import type { Ledger } from '../../api/credits/ledger.ts'
import type { Store } from '../../pipeline/store/store.ts'

/** What operator commands work with: the service's own parts, in the process that owns the data. */
export interface OperatorParts {
  readonly store: Store
  readonly ledger: Ledger
  readonly accounts: Accounts
}
