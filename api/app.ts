import Koa from 'koa'
import type { AddSpan } from '../pipeline/runtime/span.ts'
import { batchSends } from './middleware/batch-sends.ts'
import type { RequestState } from './middleware/context.ts'
import { cors } from './middleware/cors.ts'
import { errors } from './middleware/errors.ts'
import { headers } from './middleware/headers.ts'
import { requestId } from './middleware/request-id.ts'
import { route } from './middleware/route.ts'
import { traceRequest } from './middleware/trace-request.ts'
import { createRoutes, type RouteDeps } from './routes.ts'

/** Dependencies of the Koa application. */
export interface AppDeps extends RouteDeps {
  /** Takes the trace of each request; undefined: requests are not traced. */
  readonly addSpan?: AddSpan | undefined
}

/**
 * Creates the Koa application: the middleware of every request, then the one of its route. The
 * order of the middleware is the order of refusals (rule D2).
 */
export function createApp(deps: AppDeps): Koa<RequestState> {
  const { logger, metrics, corsOrigins, addSpan } = deps
  const app = new Koa<RequestState>()
  // Errors after the response has begun, such as broken connections. Koa would print them.
  app.on('error', (err) => logger.debug({ err }, 'connection failed'))
  app.use(batchSends())
  app.use(requestId)
  if (addSpan) app.use(traceRequest(addSpan))
  app.use(headers)
  app.use(cors(corsOrigins))
  app.use(errors(logger, metrics))
  app.use(route(createRoutes(deps)))
  return app
}
