import type Router from '@koa/router'
import { ApiError } from '../errors.ts'
import type { RequestState, Step } from './context.ts'

/** Refuses paths that are nowhere, then methods that a path does not take; HEAD too (decisions D2). */
export function findResource(router: Router<RequestState>): Step {
  return async function findResource(ctx, next) {
    const { path } = router.match(ctx.path, ctx.method)
    const [layer] = path
    if (layer === undefined) throw new ApiError('not_found')
    const methods = path.flatMap(({ methods }) => methods).filter((method) => method !== 'HEAD')
    if (!methods.includes(ctx.method))
      throw new ApiError('method_not_allowed', { headers: { Allow: methods.join(', ') } })
    ctx.state.resource = String(layer.path)
    await next()
  }
}
