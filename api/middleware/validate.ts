import type { z } from 'zod'
import { ApiError } from '../errors.ts'
import type { Resource } from '../resources/resource.ts'
import type { Step } from './context.ts'

/**
 * Reads path, query and body by the resource's schemas: rejected, never clamped; unknown query parameters are ignored (decisions D2). What a URL says is
 * remembered, for as many as `MOST_URLS`: many ask for just the same.
 */
export function validate(resource: Resource): Step {
  const known = new Map<string, unknown>()

  function read(ctx: Parameters<Step>[0]): unknown {
    const input = resource.input.safeParse({
      params: ctx.params,
      query: queryOf(ctx.querystring),
      body: resource.requestBody === undefined ? {} : ctx.state.body,
    })
    if (!input.success) throw refusal(input.error)
    return input.data
  }

  return function validate(ctx, next) {
    const { url = '' } = ctx.req
    const input = known.get(url) ?? read(ctx)
    if (resource.requestBody === undefined && !known.has(url)) {
      const [oldest] = known.size >= MOST_URLS ? known.keys() : []
      if (oldest !== undefined) known.delete(oldest)
      known.set(url, input)
    }
    ctx.state.input = input
    return next()
  }
}

const MOST_URLS = 1000

/** Every parameter once as text; one that is given several times as a list, which no schema takes. */
function queryOf(text: string): Record<string, string | string[]> {
  if (text === '') return {}
  const query = new URLSearchParams(text)
  return Object.fromEntries(
    [...new Set(query.keys())].map((name) => {
      const values = query.getAll(name)
      return [name, values.length === 1 ? (values[0] ?? '') : values]
    }),
  )
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
