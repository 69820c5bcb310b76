import { randomBytes } from 'node:crypto'
import type { AddSpan } from '../../pipeline/runtime/span.ts'
import { type ApiMiddleware, answeredStatus } from './context.ts'

/**
 * Makes one trace of each request: its method, declared path, status, id and the credits charged,
 * and nothing else of the client (rule K22). A trace that the client names is ignored.
 */
export function traceRequest(add: AddSpan): ApiMiddleware {
  return async function traceRequest(ctx, next) {
    const startMs = Date.now()
    const started = performance.now()
    await next()
    const { resource, requestId, cost } = ctx.state
    const status = answeredStatus(ctx)
    const ids = randomBytes(24).toString('hex')
    add({
      name: resource === undefined ? ctx.method : `${ctx.method} ${resource}`,
      kind: 'server',
      traceId: ids.slice(0, 32),
      spanId: ids.slice(32),
      parentId: null,
      startMs,
      endMs: startMs + (performance.now() - started),
      attributes: {
        'http.request.method': ctx.method,
        ...(resource !== undefined && { 'http.route': resource }),
        'http.response.status_code': status,
        'tracked_wallets.request_id': requestId,
        'tracked_wallets.credits_charged': cost,
      },
      failed: status >= 500,
    })
  }
}
