import { ServiceError } from '../../pipeline/domain/service-error.ts'
import type { Logger } from '../../pipeline/runtime/logger.ts'
import { problem, toApiError } from '../errors.ts'
import type { ApiMetrics } from '../telemetry.ts'
import { type ApiMiddleware, answeredStatus } from './context.ts'
import { createFailureLog } from './failure-log.ts'

/**
 * Renders every refusal and logs failures (rule D1), as many as `createFailureLog` lets through.
 * Internal details stay in the log.
 */
export function errors(logger: Logger, metrics: ApiMetrics): ApiMiddleware {
  const logFailure = logFailures(logger)
  return async function errors(ctx, next) {
    const started = performance.now()
    const { requestId } = ctx.state
    try {
      await next()
    } catch (error) {
      const refusal = toApiError(error)
      ctx.status = refusal.status
      ctx.set({ ...refusal.headers })
      if (refusal.status === 401) ctx.set('WWW-Authenticate', 'Bearer')
      ctx.body = JSON.stringify(problem(refusal, requestId))
      ctx.type = 'application/problem+json'
      if (refusal.status >= 500) logFailure(error, ctx)
    }
    metrics.requestSeconds.observe(
      { resource: ctx.state.resource ?? 'none', status: answeredStatus(ctx) },
      (performance.now() - started) / 1000,
    )
  }
}

/** Returns a function that logs an error which is a failure of the service. */
export function logFailures(
  logger: Logger,
): (error: unknown, ctx: Parameters<ApiMiddleware>[0]) => void {
  const logFailure = createFailureLog(logger)
  return (error, { state: { requestId, resource } }) => {
    const { status, code } = toApiError(error)
    // Messages of other errors may quote stored data.
    const reason = error instanceof ServiceError ? error.message : (error as Error)?.name
    logFailure(status === 500 ? 'error' : 'warn', { requestId, resource, code, reason })
    logger.debug({ requestId, err: error }, 'request failed')
  }
}
