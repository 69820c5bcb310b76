import type { ParameterizedContext as Context } from 'koa'
import { ApiError } from '../errors.ts'
import { clientOf, siteOf } from '../rate-limits/client-of.ts'
import type { Allowance, RateLimit } from '../rate-limits/rate-limit.ts'
import type { ApiMiddleware } from './context.ts'

/**
 * Counts the request for its client and refuses what is over the limit, with the fields of IETF draft-ietf-httpapi-ratelimit-headers (revision 9 on)
 * on every answer (rule D6). `trustedProxies`: hops in front of this server.
 */
export function limitRate(limit: RateLimit | null, trustedProxies: number): ApiMiddleware {
  if (limit === null) return (_ctx, next) => next()
  return async function limitRate(ctx, next) {
    applyAllowance(ctx, limit.name, limit, await limit.take(clientOfRequest(ctx, trustedProxies)))
    await next()
  }
}

/**
 * The same while the request goes on, so that the limit and the charge wait for Redis together: `ctx.state.passed` is awaited before anything is asked of storage and before
 * the answer. A refusal by the limit comes before every other, as if nothing had been done meanwhile. Who is known to be over it goes no further at all.
 */
export function startRateLimit(limit: RateLimit | null, trustedProxies: number): ApiMiddleware {
  const first = limitRate(limit, trustedProxies)
  if (limit === null) return first
  return async function limitRateMeanwhile(ctx, next) {
    const asking = clientOfRequest(ctx, trustedProxies)
    if (limit.decidesLocally(asking)) return first(ctx, next)
    const passed = limit
      .take(asking)
      .then((allowance) => applyAllowance(ctx, limit.name, limit, allowance))
    passed.catch(() => {}) // whoever waits for it is told
    ctx.state.limitsPassed = passed
    try {
      await next()
    } finally {
      await passed
    }
  }
}

/** Whom a request counts for. `trustedProxies`: hops in front of this server. */
export function clientOfRequest(ctx: Context, trustedProxies: number): string {
  return clientOf(ctx.req.socket.remoteAddress, ctx.get('X-Forwarded-For'), trustedProxies)
}

/**
 * Counts the request for the /48 of an IPv6 client, after it was counted for the client itself; the
 * answer tells of the budget that refuses it. Else one customer of a provider has as many budgets
 * as the 65,536 networks of a /48.
 */
export function limitSite(limit: RateLimit | null, trustedProxies: number): ApiMiddleware {
  if (limit === null) return (_ctx, next) => next()
  return async function limitSite(ctx, next) {
    const site = siteOf(clientOfRequest(ctx, trustedProxies))
    const allowance = site === null ? null : await limit.take(site)
    if (allowance?.allowed === false) applyAllowance(ctx, limit.name, limit, allowance)
    await next()
  }
}

/** Counts the request for the wallet that its body names, after it was counted for its client; the answer tells of the budget that refuses it. */
export function limitWallet(limit: RateLimit | null): ApiMiddleware {
  if (limit === null) return (_ctx, next) => next()
  return async function limitWallet(ctx, next) {
    // `validate` has read it by the schema of the resource.
    const { wallet } = (ctx.state.input as { body: { wallet: string } }).body
    const allowance = await limit.take(wallet)
    if (!allowance.allowed) applyAllowance(ctx, 'login', limit, allowance)
    await next()
  }
}

/**
 * Adds a policy and what is left of it to the lists of the `RateLimit` fields; a refusal names the
 * policy that refuses alone, throws `rate_limited`, and says `title` in the place of the usual
 * text.
 */
export function applyAllowance(
  ctx: Context,
  name: string,
  limit: RateLimit,
  allowance: Allowance,
  title?: string,
): void {
  const { quota, windowSeconds } = limit
  const { allowed, left, resetSeconds } = allowance
  const policy = `"${name}";q=${quota};w=${windowSeconds}`
  const state = `"${name}";r=${left};t=${resetSeconds}`
  if (!allowed) {
    ctx.set({ 'RateLimit-Policy': policy, RateLimit: state })
    throw new ApiError('rate_limited', {
      headers: { 'Retry-After': String(resetSeconds) },
      ...(title !== undefined && { title }),
    })
  }
  const before = ctx.res.getHeader('RateLimit-Policy')
  ctx.set('RateLimit-Policy', before === undefined ? policy : `${before}, ${policy}`)
  const others = ctx.res.getHeader('RateLimit')
  ctx.set('RateLimit', others === undefined ? state : `${others}, ${state}`)
}
