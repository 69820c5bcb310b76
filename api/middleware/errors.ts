import { ServiceError } from '../../pipeline/domain/service-error.ts'
import type { Logger } from '../../pipeline/runtime/logger.ts'
import { problem, toApiError } from '../errors.ts'
import type { ApiMetrics } from '../telemetry.ts'
import type { ApiMiddleware } from './context.ts'

/** The one place where refusals are rendered and failures logged (rule D1). Nothing internal gets into an answer. */
export function errors(logger: Logger, metrics: ApiMetrics): ApiMiddleware {
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
      if (refusal.status >= 500) {
        const { resource } = ctx.state
        // A message of the store may quote data.
        const reason = error instanceof ServiceError ? error.message : (error as Error)?.name
        const level = refusal.status === 500 ? 'error' : 'warn'
        logger[level]({ requestId, resource, code: refusal.code, reason }, 'request failed')
        logger.debug({ requestId, err: error }, 'request failed')
      }
    }
    metrics.requestSeconds.observe(
      { resource: ctx.state.resource ?? 'none', status: ctx.status },
      (performance.now() - started) / 1000,
    )
  }
}
