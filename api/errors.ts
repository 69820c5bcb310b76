import { ServiceError } from '../pipeline/domain/service-error.ts'

/** Every problem code with its status and title (contract 7, rule D2). */
export const PROBLEMS = {
  bad_request: [400, 'The request is not valid HTTP/1.1.'],
  invalid_cursor: [400, 'The cursor was not issued by this endpoint.'],
  invalid_parameter: [400, 'The value of a parameter is not allowed.'],
  unauthorized: [
    401,
    'This call needs a valid API key, or for the dashboard a valid token: Authorization: Bearer <...>.',
  ],
  invalid_signature: [
    401,
    'The signature, the message or its nonce is not valid. Request a new nonce and sign its message.',
  ],
  insufficient_credits: [402, 'The credits left do not cover this call.'],
  account_disabled: [403, 'The operator of the service has disabled this account.'],
  address_not_allowed: [
    403,
    'This API key may not be used from this address: its list of addresses does not have it.',
  ],
  scope_missing: [403, 'This API key does not have the scope that this call needs.'],
  origin_not_allowed: [
    403,
    'Pages of this origin may not call this path: the operator of the service allows origins.',
  ],
  pro_required: [403, 'This view requires an active Pro subscription.'],
  not_found: [
    404,
    'This path does not exist. /docs/rest and /openapi.json list the paths that do.',
  ],
  wallet_not_found: [404, 'No tracked wallet has this alias.'],
  method_not_allowed: [
    405,
    'This path does not support this method. The header field Allow names those that it does.',
  ],
  request_timeout: [408, 'The request was not complete in time.'],
  payload_too_large: [413, 'The request body is too large: it has at most 16384 bytes.'],
  unsupported_media_type: [
    415,
    'The request body must be JSON, with Content-Type: application/json and without compression.',
  ],
  upgrade_required: [
    426,
    'This path requires a WebSocket upgrade: connect with a WebSocket client.',
  ],
  key_not_found: [404, 'This account has no named key with this id.'],
  session_not_found: [404, 'This account has no session with this id.'],
  webhook_not_found: [404, 'This account has no webhook with this id.'],
  too_many_webhooks: [409, 'An account has at most 10 webhooks. Delete one first.'],
  too_many_keys: [409, 'An account has at most 20 named keys. Delete one first.'],
  rate_limited: [
    429,
    'Too many requests from this address or for this account. Retry after the time in Retry-After.',
  ],
  headers_too_large: [431, 'The header of the request is too large.'],
  internal_error: [500, 'An internal error occurred.'],
  unavailable: [503, 'A part of the service is temporarily unavailable. Try again.'],
} as const satisfies Record<string, readonly [number, string]>

/** The code of a problem document. */
export type ProblemCode = keyof typeof PROBLEMS

/** A fault of one parameter. */
export interface ParameterError {
  readonly in: 'query' | 'path' | 'body'
  readonly name: string
  readonly message: string
}

/** A refusal. All of it is sent to the client. */
export class ApiError extends Error {
  override readonly name = 'ApiError'
  readonly code: ProblemCode
  readonly status: number
  readonly headers: Readonly<Record<string, string>>
  readonly errors: readonly ParameterError[]

  constructor(
    code: ProblemCode,
    options: {
      readonly headers?: Record<string, string>
      readonly errors?: readonly ParameterError[]
      readonly cause?: unknown
      /** Replaces the title of the code. */
      readonly title?: string
    } = {},
  ) {
    super(
      options.title ?? PROBLEMS[code][1],
      options.cause === undefined ? undefined : { cause: options.cause },
    )
    this.code = code
    this.status = PROBLEMS[code][0]
    this.headers = options.headers ?? {}
    this.errors = options.errors ?? []
  }
}

/** Returns the refusal for any error: `unavailable` if a server is down, else `internal_error`. */
export function toApiError(error: unknown): ApiError {
  if (error instanceof ApiError) return error
  const down =
    error instanceof ServiceError && ['unavailable', 'unreachable', 'closed'].includes(error.code)
  return down
    ? new ApiError('unavailable', { cause: error, headers: { 'Retry-After': '1' } })
    : new ApiError('internal_error', { cause: error })
}

/**
 * Returns the body of a refusal, `application/problem+json` (RFC 9457, rule D1). `detail` repeats
 * the code, because existing clients read it there.
 */
export function problem(error: ApiError, requestId: string) {
  return {
    type: 'about:blank',
    title: error.message,
    status: error.status,
    detail: error.code,
    code: error.code,
    request_id: requestId,
    ...(error.errors.length > 0 && { errors: error.errors }),
  }
}
