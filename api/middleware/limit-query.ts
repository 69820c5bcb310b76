import { ApiError } from '../errors.ts'
import type { ApiMiddleware } from './context.ts'

/**
 * The longest query of a URL, in bytes before decoding. Queries with documented parameters are much
 * shorter.
 */
export const MAX_QUERY = 2048

/**
 * Refuses a longer query on every path with 400 `invalid_parameter`, at the place of 400 in the
 * order of rule D2.
 */
export const limitQuery: ApiMiddleware = function limitQuery(ctx, next) {
  const { url = '' } = ctx.req
  const mark = url.length > MAX_QUERY ? url.indexOf('?') : -1
  if (mark !== -1 && url.length - mark - 1 > MAX_QUERY)
    throw new ApiError('invalid_parameter', {
      title: `The query of a URL has at most ${MAX_QUERY} bytes.`,
      errors: [{ in: 'query', name: '', message: `expected at most ${MAX_QUERY} bytes in all` }],
    })
  return next()
}
