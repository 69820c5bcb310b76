import { LRUCache } from 'lru-cache'
import type { z } from 'zod'
import { ApiError } from '../errors.ts'
import type { Resource } from '../resources/resource.ts'
import { unknownNames } from '../unknown-names.ts'
import type { ApiMiddleware } from './context.ts'

/**
 * Parses path, query and body by the resource's schemas. Invalid values are refused, never clamped;
 * unknown query parameters are ignored (rule D2), and named in the answer where a request needs an
 * API key (rule L2). Inputs of short URLs are cached there, so that unauthenticated clients cannot
 * fill the cache.
 */
export function validate(resource: Resource): ApiMiddleware {
  const names = new Set(Object.keys(resource.query.shape))
  const needsKey = resource.price !== null
  const isCached = needsKey && resource.requestBody === undefined
  const cache = new LRUCache<string, { input: object; unknown: string }>({ max: MAX_CACHED_URLS })
  return function validate(ctx, next) {
    const { url = '' } = ctx.req
    const cached = isCached ? cache.get(url) : undefined
    const unknown = cached?.unknown ?? (needsKey ? unknownParameters(ctx.querystring, names) : '')
    if (unknown !== '') ctx.set(UNKNOWN_PARAMETERS, unknown)
    if (cached !== undefined) {
      ctx.state.input = cached.input
      return next()
    }
    const input = resource.input.safeParse({
      params: ctx.params,
      query: declaredQuery(ctx.querystring, names),
      body: resource.requestBody === undefined ? {} : ctx.state.body,
    })
    if (!input.success) throw refusal(input.error)
    // The cast is safe: the data is an object with path, query and body.
    if (isCached && url.length <= MAX_CACHED_URL_LENGTH)
      cache.set(url, { input: input.data as object, unknown })
    ctx.state.input = input.data
    return next()
  }
}

/** Bounds of the cache of one resource: at most a quarter of a megabyte of URLs. */
const MAX_CACHED_URLS = 1000
const MAX_CACHED_URL_LENGTH = 256

/**
 * Returns the query parameters whose name is in `names`, as text. A repeated parameter becomes a
 * list, which no schema accepts.
 */
export function declaredQuery(
  text: string,
  names: ReadonlySet<string>,
): Record<string, string | string[]> {
  const query: Record<string, string | string[]> = {}
  if (text === '' || names.size === 0) return query
  for (const [name, value] of new URLSearchParams(text)) {
    if (!names.has(name)) continue
    const known = query[name]
    if (known === undefined) query[name] = value
    else if (typeof known === 'string') query[name] = [known, value]
    else known.push(value)
  }
  return query
}

/** The header field that names the parameters that a resource does not know. */
export const UNKNOWN_PARAMETERS = 'X-Unknown-Parameters'

/** Returns the names of parameters that are not in `names`, as one text (rule L2). */
export function unknownParameters(text: string, names: ReadonlySet<string>): string {
  if (text === '') return ''
  return unknownNames(new URLSearchParams(text).keys(), names).join(', ')
}

function refusal({ issues }: z.ZodError): ApiError {
  const isCursor = (issue: z.core.$ZodIssue) =>
    issue.code === 'custom' && issue.params?.code === 'invalid_cursor'
  return new ApiError(issues.every(isCursor) ? 'invalid_cursor' : 'invalid_parameter', {
    errors: issues.map(({ path: [where, name], message }) => ({
      in: IN[String(where)] ?? 'query',
      name: String(name ?? ''),
      message,
    })),
  })
}

const IN: Readonly<Record<string, 'path' | 'query' | 'body'>> = { params: 'path', body: 'body' }
