import type { Billing } from '../billing/billing.ts'
import { ApiError } from '../errors.ts'
import type { ApiMiddleware } from './context.ts'

/** Refuses wallets without active Pro with 403 `pro_required` (rule D3). Needs a session. */
export function requirePro(billing: Pick<Billing, 'pro'> | null): ApiMiddleware {
  return async function requirePro(ctx, next) {
    const { session } = ctx.state
    if (session === undefined) throw new Error('requirePro comes after authenticateSession')
    if (billing === null) throw new ApiError('unavailable')
    const pro = await billing.pro(session.wallet)
    if (!pro.active) throw new ApiError('pro_required')
    ctx.state.proUntil = pro.expiresAt
    await next()
  }
}
