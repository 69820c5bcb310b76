import { randomUUID } from 'node:crypto'
import type { ApiMiddleware } from './context.ts'

/** Gives each request an id, which appears in its response and in the log (rule D1). */
export const requestId: ApiMiddleware = function requestId(ctx, next) {
  ctx.state.requestId = randomUUID()
  ctx.state.cost = 0
  ctx.res.setHeader('X-Request-Id', ctx.state.requestId)
  return next()
}
