import { ApiError } from '../errors.ts'
import type { ApiMiddleware } from './context.ts'

/** The largest request body, in bytes (rule D2). */
export const MAX_BODY = 16 * 1024

/** Refuses a body that says it is too large; what a request to a path without a body carries is never read. */
export const limitBody: ApiMiddleware = function limitBody(ctx, next) {
  if ((ctx.request.length ?? 0) > MAX_BODY) {
    // What was not read would be taken for the next request.
    ctx.set('Connection', 'close')
    throw new ApiError('payload_too_large')
  }
  return next()
}
