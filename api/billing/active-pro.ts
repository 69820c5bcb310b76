import { ApiError } from '../errors.ts'
import type { Billing } from './billing.ts'

/**
 * Returns until when the wallet has Pro. Throws 403 `pro_required` without it, and `unavailable` if
 * Pro cannot be bought (rule D3).
 */
export async function requireActivePro(
  billing: Pick<Billing, 'pro'> | null,
  wallet: string,
): Promise<number> {
  if (billing === null) throw new ApiError('unavailable')
  const pro = await billing.pro(wallet)
  if (!pro.active) throw new ApiError('pro_required')
  return pro.expiresAt
}
