import type { AccountAccess } from '../accounts/account-access.ts'
import type { ApiMiddleware } from './context.ts'

/**
 * Refuses dashboard tokens of disabled accounts with 403 `account_disabled` (rule E3). Keys are
 * refused where they are looked up.
 */
export function requireEnabled(access: Pick<AccountAccess, 'requireEnabled'>): ApiMiddleware {
  return async function requireEnabled(ctx, next) {
    const { session } = ctx.state
    if (session !== undefined) await access.requireEnabled(session.wallet)
    await next()
  }
}
