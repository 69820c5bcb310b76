import type { Credits } from '../credits/credits.ts'
import { ApiError } from '../errors.ts'
import type { ApiMetrics } from '../telemetry.ts'
import type { ApiMiddleware } from './context.ts'

/**
 * Sets the header fields for credits on every charged resource: the cost, 0 unless the response is
 * 2xx and not free, and the credits left if known (rule D5).
 */
export function showCredits(credits: Credits): ApiMiddleware {
  return async function showCredits(ctx, next) {
    const { state } = ctx
    try {
      await next()
    } catch (error) {
      state.cost = 0
      if (state.account !== undefined && state.left === undefined) {
        const left = await credits.left(state.account).catch(() => undefined)
        if (left !== undefined) state.left = left
      }
      throw error
    } finally {
      ctx.set('X-Credits-Cost', String(state.cost))
      if (state.left !== undefined) ctx.set('X-Credits-Remaining', String(state.left))
    }
  }
}

/** Waits until the limits let a call pass that costs nothing. */
export const passLimits: ApiMiddleware = async function passLimits(ctx, next) {
  await ctx.state.limitsPassed
  ctx.set('Cache-Control', 'no-store')
  await next()
}

/** Refuses what costs `price` credits where fewer are left, and says where to buy some. */
export function insufficient(what: string, price: number, left: number): ApiError {
  return new ApiError('insufficient_credits', {
    title: `${what} costs ${price} ${price === 1 ? 'credit' : 'credits'}, and ${left} ${left === 1 ? 'is' : 'are'} left. Buy credits on /dashboard, or as GET /billing/plans says.`,
  })
}

/**
 * Charges the call before it is answered, and gives the credits back if the response is not 2xx, or
 * free.
 * The charge runs concurrently with the rate limits; a call over a limit gets its credits back.
 */
export function charge(credits: Credits, price: number, metrics: ApiMetrics): ApiMiddleware {
  return async function charge(ctx, next) {
    const { account, requestId, resource = '' } = ctx.state
    if (account === undefined) throw new Error('charge comes after authenticate')
    const charging = credits.charge(account, price, requestId)
    charging.catch(() => {}) // awaited after the limits
    try {
      await ctx.state.limitsPassed
    } catch (refusal) {
      const isCharged = await charging.then(({ kind }) => kind === 'charged').catch(() => false)
      if (isCharged) await credits.refund(account, requestId).catch(() => {})
      throw refusal
    }
    const charged = await charging
    ctx.state.left = charged.left
    if (charged.kind === 'insufficient') throw insufficient('This call', price, charged.left)
    const refund = async () => {
      delete ctx.state.left
      const left = await credits.refund(account, requestId).catch(() => null)
      if (left !== null) ctx.state.left = left
    }
    try {
      await next()
    } catch (error) {
      await refund()
      throw error
    }
    if (ctx.state.isFree) return refund()
    ctx.state.cost = price
    metrics.creditsCharged.inc({ resource }, price)
  }
}
