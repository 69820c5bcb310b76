import type { Account, Meter } from '../credits/meter.ts'

/** Credits left; null when the account is unknown. */
export async function leftOf(
  meter: Pick<Meter, 'balance'>,
  account: Account,
): Promise<number | null> {
  return (await meter.balance(account))?.left ?? null
}
