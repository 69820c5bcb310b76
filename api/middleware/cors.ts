import koaCors from '@koa/cors'
import type { ApiMiddleware } from './context.ts'

/**
 * Allows pages of the given origins to call the API from a browser (`CORS_ORIGINS`). Credentials
 * are sent in a header field, so cookies are never allowed.
 */
export function cors(origins: readonly string[]): ApiMiddleware {
  if (origins.length === 0) return (_ctx, next) => next()
  return koaCors({
    origin: (ctx) => (origins.includes(ctx.get('Origin')) ? ctx.get('Origin') : ''),
    allowMethods: ['GET', 'POST', 'PATCH', 'DELETE'],
    allowHeaders: ['Authorization', 'Content-Type', 'If-None-Match', 'MCP-Protocol-Version'],
    exposeHeaders: EXPOSED,
    maxAge: 86_400,
  })
}

/** Header fields of responses that pages of these origins may read. */
export const EXPOSED = [
  ...['API-Version', 'ETag', 'X-Request-Id', 'X-Head-Cursor', 'X-Credits-Cost'],
  ...['X-Credits-Remaining', 'X-Unknown-Parameters'],
  ...['RateLimit', 'RateLimit-Policy', 'Retry-After'],
]
