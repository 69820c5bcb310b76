import type { ParameterError, ProblemCode } from '../errors.ts'

/** An error response of the service (problem details, RFC 9457). Decide by `code`. */
export class Refused extends Error {
  readonly status: number
  /** `internal_error` also stands for an answer that is not the service's, of a proxy say. */
  readonly code: ProblemCode
  /** The parameters at fault, each with what was expected; empty for other refusals. */
  readonly errors: readonly ParameterError[]
  /** Seconds after which a retry may help (`Retry-After`); null when the service does not say. */
  readonly retryAfter: number | null
  readonly requestId: string | null

  constructor(
    { status, statusText, headers }: Pick<Response, 'status' | 'statusText' | 'headers'>,
    problem: {
      readonly code?: ProblemCode
      readonly title?: string
      readonly errors?: readonly ParameterError[]
    },
  ) {
    const errors = problem.errors ?? []
    const faults = errors.map((fault) => `${fault.name}: ${fault.message}`).join('; ')
    super(`${problem.title ?? statusText} ${faults}`.trimEnd())
    this.name = 'Refused'
    this.status = status
    this.code = problem.code ?? 'internal_error'
    this.errors = errors
    const after = headers.get('retry-after')
    this.retryAfter = after === null ? null : Number(after)
    this.requestId = headers.get('x-request-id')
  }
}
