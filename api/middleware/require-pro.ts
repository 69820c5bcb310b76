import { requireActivePro } from '../billing/active-pro.ts'
import type { Billing } from '../billing/billing.ts'
import type { ApiMiddleware } from './context.ts'

/** Refuses wallets without active Pro with 403 `pro_required` (rule D3). Needs a session. */
export function requirePro(billing: Pick<Billing, 'pro'> | null): ApiMiddleware {
  return async function requirePro(ctx, next) {
    const { session } = ctx.state
    if (session === undefined) throw new Error('requirePro comes after authenticateSession')
    ctx.state.proUntil = await requireActivePro(billing, session.wallet)
    await next()
  }
}
