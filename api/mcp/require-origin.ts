import { ApiError } from '../errors.ts'
import type { ApiMiddleware } from '../middleware/context.ts'

/**
 * Refuses a page of an origin that may not call the API (`CORS_ORIGINS`), so that DNS rebinding
 * reaches nothing (rule M2). Pages of the service itself, at `serverUrl`, may call it. Programs
 * send no `Origin`.
 */
export function requireOrigin(origins: readonly string[], serverUrl: () => string): ApiMiddleware {
  return function requireOrigin(ctx, next) {
    const origin = ctx.get('Origin')
    if (origin !== '' && !origins.includes(origin) && origin !== new URL(serverUrl()).origin)
      throw new ApiError('origin_not_allowed')
    return next()
  }
}
