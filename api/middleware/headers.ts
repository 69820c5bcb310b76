import type { Step } from './context.ts'

/** What every answer says: the version of the API, and to browsers that it is data and nothing else. */
export const HEADERS = {
  'API-Version': '1',
  'Cache-Control': 'private, no-cache',
  'X-Content-Type-Options': 'nosniff',
  'Content-Security-Policy': "default-src 'none'; frame-ancestors 'none'",
  'Referrer-Policy': 'no-referrer',
  'Cross-Origin-Resource-Policy': 'same-origin',
} as const

export const headers: Step = function headers(ctx, next) {
  for (const [name, value] of FIELDS) ctx.res.setHeader(name, value)
  return next()
}

const FIELDS = Object.entries(HEADERS)
