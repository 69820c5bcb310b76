import type { Address } from '../../domain/address.ts'
import { type PaymentAddresses, PURPOSES, type Purpose } from '../../domain/payment.ts'
import type { Store } from '../../store/store.ts'
import type { DepositAccount } from './deposit-accounts.ts'
import type { DepositPosition } from './deposit-history.ts'

/** Maximum number of positions read at a start: those that are furthest. */
const MOST_READ = 1000
/**
 * A position without a new transaction is stored again after this many slots: about ten minutes.
 */
const STORED_EVERY_SLOTS = 1500

/** Position up to which the history of an account was read. */
export interface AccountPosition {
  readonly account: Address
  readonly purpose: Purpose
  readonly position: DepositPosition
}

/** Returns the stored positions of accounts of the payment addresses that are in use. */
export async function readPositions(
  store: Store,
  payments: PaymentAddresses,
): Promise<AccountPosition[]> {
  const rows = await store.query<
    { readonly account: Address } & Record<'owner' | 'signature' | 'slot', string>
  >(
    `SELECT account, owner, signature, slot FROM deposit_positions FINAL
     WHERE owner IN {owners:Array(String)} ORDER BY slot DESC LIMIT ${MOST_READ}`,
    { owners: PURPOSES.map((purpose) => payments[purpose]) },
  )
  return rows.flatMap(({ account, owner, signature, slot }) => {
    const purpose = PURPOSES.find((purpose) => payments[purpose] === owner)
    return purpose === undefined
      ? []
      : [{ account, purpose, position: { signature, slot: Number(slot) } }]
  })
}

/**
 * Stores the position of an account when it has a new transaction, or when the stored slot is old.
 * Call it after the account's deposits up to there are stored.
 */
export async function storePosition(
  store: Store,
  account: DepositAccount,
  payments: PaymentAddresses,
): Promise<void> {
  const { address, purpose, stored, history } = account
  const { slot, signature } = history.position
  if (stored?.signature === signature && slot < stored.slot + STORED_EVERY_SLOTS) return
  const { position } = history
  const row = { account: address, owner: payments[purpose], signature, slot }
  await store.insert('deposit_positions', [row])
  account.stored = position
}
