import type { ParameterizedContext as Context } from 'koa'
import { ApiError } from '../errors.ts'
import { clientOf, siteOf, wholeAddressOf } from '../rate-limits/client-of.ts'
import type { Allowance, RateLimit } from '../rate-limits/rate-limit.ts'
import type { ApiMiddleware } from './context.ts'

/**
 * Counts the request for its client and refuses it over the limit. Every response has the fields of
 * IETF draft-ietf-httpapi-ratelimit-headers, revision 9 on (rule D6). `trustedProxies` is the
 * number of proxies in front of this server.
 */
export function limitRate(limit: RateLimit | null, trustedProxies: number): ApiMiddleware {
  if (limit === null) return (_ctx, next) => next()
  return async function limitRate(ctx, next) {
    applyAllowance(ctx, limit.name, limit, await limit.take(clientOfRequest(ctx, trustedProxies)))
    await next()
  }
}

/**
 * Like `limitRate`, but lets the request go on while Redis counts, so that limit and charge wait
 * for Redis together. Steps await `ctx.state.limitsPassed` before they read the store and before
 * the response. A refusal by the limit replaces every other one. A client known to be over the
 * limit is refused at once.
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
    passed.catch(() => {}) // handled by the steps that await it
    ctx.state.limitsPassed = passed
    try {
      await next()
    } finally {
      await passed
    }
  }
}

/** Returns the client that a request counts for. */
export function clientOfRequest(ctx: Context, trustedProxies: number): string {
  return clientOf(ctx.req.socket.remoteAddress, ctx.get('X-Forwarded-For'), trustedProxies)
}

/** The whole address of the client, as `clientOfRequest` finds it. */
export function addressOfRequest(ctx: Context, trustedProxies: number): string {
  return wholeAddressOf(ctx.req.socket.remoteAddress, ctx.get('X-Forwarded-For'), trustedProxies)
}

/**
 * Counts the request for the /48 of an IPv6 client, after it was counted for the client itself.
 * Only a refusal shows this limit in the response. Without it, a customer with a /48 would have
 * 65,536 budgets, one for each /64.
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

/**
 * Counts the request for the wallet in its body, after it was counted for its client. Only a
 * refusal shows this limit in the response.
 */
export function limitWallet(limit: RateLimit | null): ApiMiddleware {
  if (limit === null) return (_ctx, next) => next()
  return async function limitWallet(ctx, next) {
    // The cast is safe: `validate` has parsed the input.
    const { wallet } = (ctx.state.input as { body: { wallet: string } }).body
    const allowance = await limit.take(wallet)
    if (!allowance.allowed) applyAllowance(ctx, 'login', limit, allowance)
    await next()
  }
}

/**
 * Adds a policy and its remaining quota to the `RateLimit` fields. If the allowance is a refusal,
 * the fields hold only that policy, and it throws `rate_limited` with `title`.
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
    ctx.res.setHeader('RateLimit-Policy', policy)
    ctx.res.setHeader('RateLimit', state)
    throw new ApiError('rate_limited', {
      headers: { 'Retry-After': String(resetSeconds) },
      ...(title !== undefined && { title }),
    })
  }
  const before = ctx.res.getHeader('RateLimit-Policy')
  ctx.res.setHeader('RateLimit-Policy', before === undefined ? policy : `${before}, ${policy}`)
  const others = ctx.res.getHeader('RateLimit')
  ctx.res.setHeader('RateLimit', others === undefined ? state : `${others}, ${state}`)
}
