import { ApiError } from '../errors.ts'
import type { ApiMiddleware } from './context.ts'

/** The largest request body, in bytes (rule D2). */
export const MAX_BODY = 16 * 1024

/**
 * Refuses a body whose declared length is too large. A body is only parsed on routes that expect
 * one.
 */
export const limitBody: ApiMiddleware = function limitBody(ctx, next) {
  if ((ctx.request.length ?? 0) > MAX_BODY) {
    // The unread body would be parsed as the next request.
    ctx.set('Connection', 'close')
    throw new ApiError('payload_too_large')
  }
  return next()
}
