import koaCors from '@koa/cors'
import type { ApiMiddleware } from './context.ts'

/** Lets pages of the given origins call the API from a browser (`CORS_ORIGINS`); of none unless configured. Keys go in a field, so cookies never count. */
export function cors(origins: readonly string[]): ApiMiddleware {
  if (origins.length === 0) return (_ctx, next) => next()
  return koaCors({
    origin: (ctx) => (origins.includes(ctx.get('Origin')) ? ctx.get('Origin') : ''),
    allowMethods: ['GET', 'POST'],
    allowHeaders: ['Authorization', 'Content-Type', 'If-None-Match'],
    exposeHeaders: EXPOSED,
    maxAge: 86_400,
  })
}

const EXPOSED = [
  ...['API-Version', 'ETag', 'X-Request-Id', 'X-Head-Cursor', 'X-Credits-Cost'],
  ...['X-Credits-Remaining', 'RateLimit', 'RateLimit-Policy', 'Retry-After'],
]
