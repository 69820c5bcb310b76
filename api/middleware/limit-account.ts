import { ApiError } from '../errors.ts'
import type { RateLimit } from '../rate-limits/rate-limit.ts'
import type { ApiMiddleware } from './context.ts'
import { applyAllowance } from './limit-rate.ts'

/** Limits of one account, for requests from any address. */
export interface AccountLimit {
  /** Name of the limit of concurrent requests in the `RateLimit` fields. */
  readonly concurrencyName: string
  /** Requests per minute; null: no limit. */
  readonly rate: RateLimit | null
  /** Concurrent requests in this process; 0: no limit. */
  readonly atOnce: number
}

/**
 * Counts the request for its account, or for the wallet of its token, and refuses it with 429 over
 * the limit (rules D2, D6). On Redis, the count runs concurrently with the client's limit and the
 * charge; `ctx.state.limitsPassed` resolves after both limits.
 */
export function limitAccount({ concurrencyName, rate, atOnce }: AccountLimit): ApiMiddleware {
  const underWay = new Map<string, number>()
  return async function limitAccount(ctx, next) {
    const { state } = ctx
    const account = state.account ?? state.session?.wallet
    if (account === undefined) throw new Error('limitAccount comes after authenticate')
    const count = underWay.get(account) ?? 0
    underWay.set(account, count + 1)
    try {
      if (rate?.decidesLocally(account)) {
        if (state.limitsPassed) await state.limitsPassed
        applyAllowance(ctx, rate.name, rate, await rate.take(account), OF_ACCOUNT)
      } else if (rate !== null) {
        const before = state.limitsPassed
        const taken = rate.take(account)
        state.limitsPassed = (async () => {
          await before
          applyAllowance(ctx, rate.name, rate, await taken, OF_ACCOUNT)
        })()
        state.limitsPassed.catch(() => {}) // awaited below
      }
      if (atOnce > 0 && count >= atOnce) {
        await state.limitsPassed
        ctx.set('RateLimit-Policy', `"${concurrencyName}";q=${atOnce};qu="concurrent-requests"`)
        ctx.set('RateLimit', `"${concurrencyName}";r=0;t=1`)
        throw new ApiError('rate_limited', { headers: { 'Retry-After': '1' }, title: AT_ONCE })
      }
      await next()
    } finally {
      const others = (underWay.get(account) ?? 1) - 1
      if (others === 0) underWay.delete(account)
      else underWay.set(account, others)
      // a refusal by a limit comes before any other
      if (state.limitsPassed) await state.limitsPassed
    }
  }
}

const OF_ACCOUNT = 'Too many requests for this account. Retry after the time in Retry-After.'
const AT_ONCE = 'Too many requests for this account at the same time. Wait for their answers.'
