import type { Step } from './context.ts'

/** What every answer says: the version of the API, and to browsers that it is data and nothing else. */
export const headers: Step = async function headers(ctx, next) {
  ctx.set('API-Version', '1')
  ctx.set('Cache-Control', 'private, no-cache')
  ctx.set('X-Content-Type-Options', 'nosniff')
  ctx.set('Content-Security-Policy', "default-src 'none'; frame-ancestors 'none'")
  ctx.set('Referrer-Policy', 'no-referrer')
  ctx.set('Cross-Origin-Resource-Policy', 'same-origin')
  await next()
}
