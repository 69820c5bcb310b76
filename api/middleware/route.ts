import type Router from '@koa/router'
import compose from 'koa-compose'
import { ApiError } from '../errors.ts'
import type { RequestState, Step } from './context.ts'

/**
 * Finds the resource of a request and goes its steps. Refuses paths that are nowhere, then methods that a path does not take; HEAD too (decisions D2). What
 * was found is remembered by path, for as many as `MOST_PATHS`: matching costs more the more resources there are.
 */
export function route(router: Router<RequestState>): Step {
  const known = new Map<string, Found>()
  const steps = new Map(router.stack.map((layer) => [layer, compose(layer.stack) as Step]))

  function find(path: string, method: string): Found {
    const { path: matching } = router.match(path, method)
    const layer = matching.find(({ methods }) => methods.includes(method) && method !== 'HEAD')
    if (layer === undefined) throw refusal(matching)
    return {
      resource: String(layer.path),
      params: layer.params(path, layer.captures(path)),
      run: steps.get(layer) as Step, // of the same router
    }
  }

  return function route(ctx, next) {
    const { path, method } = ctx
    const name = `${method} ${path}`
    let found = known.get(name)
    if (found === undefined) {
      found = find(path, method)
      const [oldest] = known.size >= MOST_PATHS ? known.keys() : []
      if (oldest !== undefined) known.delete(oldest)
      known.set(name, found)
    }
    ctx.params = found.params
    ctx.state.resource = found.resource
    return found.run(ctx, next)
  }
}

interface Found {
  readonly resource: string
  readonly params: Readonly<Record<string, string>>
  readonly run: Step
}

const MOST_PATHS = 10_000

function refusal(matching: Router<RequestState>['stack']): ApiError {
  if (matching.length === 0) return new ApiError('not_found')
  const methods = matching.flatMap((layer) => layer.methods).filter((method) => method !== 'HEAD')
  return new ApiError('method_not_allowed', { headers: { Allow: methods.join(', ') } })
}
