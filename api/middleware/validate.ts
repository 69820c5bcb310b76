import type { z } from 'zod'
import { ApiError, type ParameterError } from '../errors.ts'
import type { Resource } from '../resources/resource.ts'
import type { Step } from './context.ts'

/** Reads path and query by the resource's schemas: rejected, never clamped; unknown query parameters are ignored (decisions D2). */
export function validate(resource: Resource): Step {
  return async function validate(ctx, next) {
    const params = resource.params.safeParse(ctx.params)
    const query = resource.query.safeParse(queryOf(ctx.querystring))
    if (!params.success || !query.success) {
      const issues = [...faults('path', params.error), ...faults('query', query.error)]
      const code = issues.every(({ code }) => code === 'invalid_cursor')
        ? 'invalid_cursor'
        : 'invalid_parameter'
      throw new ApiError(code, { errors: issues.map(({ error }) => error) })
    }
    ctx.state.input = { params: params.data, query: query.data }
    await next()
  }
}

/** Every parameter once as text; one that is given several times as a list, which no schema takes. */
function queryOf(text: string): Record<string, string | string[]> {
  const query = new URLSearchParams(text)
  return Object.fromEntries(
    [...new Set(query.keys())].map((name) => {
      const values = query.getAll(name)
      return [name, values.length === 1 ? (values[0] ?? '') : values]
    }),
  )
}

function faults(where: ParameterError['in'], error: z.ZodError | undefined) {
  return (error?.issues ?? []).map((issue) => ({
    code:
      issue.code === 'custom' && issue.params?.code === 'invalid_cursor' ? 'invalid_cursor' : '',
    error: { in: where, name: String(issue.path[0] ?? ''), message: issue.message },
  }))
}
