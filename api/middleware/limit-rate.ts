import { ApiError } from '../errors.ts'
import { clientOf } from '../rate-limits/client-of.ts'
import type { RateLimit } from '../rate-limits/rate-limit.ts'
import type { Step } from './context.ts'

/**
 * Counts the request for its client and refuses what is over the limit, with the fields of IETF draft-ietf-httpapi-ratelimit-headers (revision 9 on)
 * on every answer (decisions D6). `trustedProxies`: hops in front of this server.
 */
export function limitRate(limit: RateLimit | null, trustedProxies: number): Step {
  if (limit === null) return (_ctx, next) => next()
  const { name, quota, windowSeconds } = limit
  const policy = `"${name}";q=${quota};w=${windowSeconds}`
  return async function limitRate(ctx, next) {
    const client = clientOf(
      ctx.req.socket.remoteAddress,
      ctx.get('X-Forwarded-For'),
      trustedProxies,
    )
    const { allowed, left, resetSeconds } = await limit.take(client)
    ctx.set('RateLimit-Policy', policy)
    ctx.set('RateLimit', `"${name}";r=${left};t=${resetSeconds}`)
    if (!allowed)
      throw new ApiError('rate_limited', { headers: { 'Retry-After': String(resetSeconds) } })
    await next()
  }
}
