import type Router from '@koa/router'
import compose from 'koa-compose'
import { ApiError } from '../errors.ts'
import type { ApiMiddleware, RequestState } from './context.ts'

/**
 * Finds the route of a request and runs its middleware. Refuses unknown paths, then methods that a
 * path does not accept (rule D2). Paths without parameters are looked up in a map,
 * others are matched against the patterns. No request is cached, so that clients cannot fill the
 * memory.
 */
export function route(router: Router<RequestState>): ApiMiddleware {
  const fixed = new Map<string, Route[]>()
  const patterns: Route[] = []
  for (const layer of router.stack) {
    const resource = String(layer.path)
    // The path of a layer is the declared path of its resource.
    const found = { layer, resource, run: compose(layer.stack) as ApiMiddleware }
    if (layer.paramNames.length > 0) patterns.push(found)
    else fixed.set(resource, [...(fixed.get(resource) ?? []), found])
  }

  return function route(ctx, next) {
    const { path, method } = ctx
    const matching = fixed.get(path) ?? patterns.filter(({ layer }) => layer.match(path))
    const found = matching.find(({ layer }) => layer.methods.includes(method))
    if (found === undefined) throw refusal(matching)
    const { layer, resource, run } = found
    ctx.params = layer.params(path, layer.captures(path))
    ctx.state.resource = resource
    return run(ctx, next)
  }
}

interface Route {
  readonly layer: Router<RequestState>['stack'][number]
  /** The declared path. */
  readonly resource: string
  readonly run: ApiMiddleware
}

function refusal(matching: readonly Route[]): ApiError {
  if (matching.length === 0) return new ApiError('not_found')
  const allowed = matching.flatMap(({ layer }) => layer.methods)
  return new ApiError('method_not_allowed', { headers: { Allow: allowed.join(', ') } })
}
