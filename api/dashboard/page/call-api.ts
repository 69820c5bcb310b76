import { createAtom } from './atom.ts'
import type { SessionKeyResponse } from './responses.ts'
import { currentSession, endSession } from './session.ts'

/**
 * What a request is authorised with: nothing, the token of the session, or the key of the session
 * (rule L16), which costs credits.
 */
export type ApiCredential = 'none' | 'token' | 'key'

/** Why a request gave no usable response. */
export type ApiFailure =
  | { readonly kind: 'unreachable' }
  | {
      readonly kind: 'refused'
      /** HTTP status. */
      readonly status: number
      /** Machine-readable reason (contract 7, rule D1). `unknown` if there is none. */
      readonly code: string
      /** A sentence for people. */
      readonly title: string
      /** Faults of single parameters, each with its name. */
      readonly faults: readonly string[]
      /** Names the request in the service's log. Empty if the response has no id. */
      readonly requestId: string
      /** Seconds to wait, from `Retry-After`. Null without that header. */
      readonly retryAfter: number | null
    }

/** The result of a request. */
export type ApiResult<Body> =
  | { readonly kind: 'ok'; readonly body: Body; readonly headers: Headers }
  | ApiFailure

/**
 * Credits left, less those reserved by feed connections, according to the newest response of the
 * product API. Null before the first such response.
 */
export const creditsRemaining = createAtom<{ readonly left: number } | null>(null)

/** The key of the session with this token, or the request for it. It is kept in memory only. */
let sessionKey: {
  readonly token: string | undefined
  readonly opened: Promise<ApiResult<SessionKeyResponse>>
} | null = null

/**
 * Returns the key of the session, for paid requests and the feed. It ends with the session. The
 * first call requests it; a failed request is repeated by the next call.
 */
export function openSessionKey(): Promise<ApiResult<SessionKeyResponse>> {
  const token = currentSession()?.token
  if (sessionKey?.token === token && sessionKey !== null) return sessionKey.opened
  const opened = callApi<SessionKeyResponse>('/me/session-key', 'token', { method: 'POST' })
  const requested = { token, opened }
  sessionKey = requested
  void opened.then(({ kind }) => {
    if (kind !== 'ok' && sessionKey === requested) sessionKey = null
  })
  return opened
}

/**
 * Sends a request to the service and returns its result. Rejects only if `signal` aborts it.
 * A 401 for the current token or its key ends the session, so that the page asks to sign in again.
 * The type of the body follows from the path; see `responses.ts`.
 */
export async function callApi<Body>(
  path: string,
  credential: ApiCredential = credentialFor(path),
  request: {
    readonly method?: 'POST' | 'PATCH' | 'DELETE'
    readonly body?: object
    readonly signal?: AbortSignal
  } = {},
): Promise<ApiResult<Body>> {
  const token = currentSession()?.token
  const opened = credential === 'key' ? await openSessionKey() : null
  if (opened !== null && opened.kind !== 'ok') return opened
  const secret = opened === null ? token : opened.body.session_key
  const { method = 'GET', body, signal } = request
  let response: Response
  let text: string
  try {
    response = await fetch(path, {
      method,
      cache: 'no-store',
      credentials: 'omit',
      redirect: 'error',
      headers: {
        ...(credential !== 'none' && secret && { authorization: `Bearer ${secret}` }),
        ...(body && { 'content-type': 'application/json' }),
      },
      ...(body && { body: JSON.stringify(body) }),
      ...(signal && { signal }),
    })
    text = await response.text()
  } catch (error) {
    if (signal?.aborted) throw error
    return { kind: 'unreachable' }
  }
  const parsed = parseJson(text)
  const left = response.headers.get('x-credits-remaining')
  if (left !== null) creditsRemaining.set({ left: Number(left) })
  // The API documents say which body a path returns.
  if (response.ok) return { kind: 'ok', body: parsed as Body, headers: response.headers }
  if (response.status === 401 && credential !== 'none' && isCurrentToken(token))
    endSession('expired')
  return refusal(response, parsed)
}

/** Returns the credential of a path: the token for account pages, the key for the product. */
export function credentialFor(path: string): ApiCredential {
  if (path.startsWith('/me/') || path.startsWith('/auth/logout')) return 'token'
  if (path.startsWith('/billing/')) return path === '/billing/plans' ? 'none' : 'token'
  return /^\/(wallets|tokens|trades)\b/.test(path) ? 'key' : 'none'
}

function isCurrentToken(token: string | null | undefined): boolean {
  const session = currentSession()
  return session !== null && session.token === token
}

function refusal(response: Response, body: unknown): ApiFailure {
  // Checked below, except that the service sends `errors` with the two texts.
  const { code, title, errors, request_id } = (body ?? {}) as Record<string, unknown>
  const retryAfter = Number(response.headers.get('retry-after'))
  return {
    kind: 'refused',
    status: response.status,
    code: typeof code === 'string' ? code : 'unknown',
    title: typeof title === 'string' ? title : 'The service sent an unexpected response.',
    faults: (Array.isArray(errors) ? errors : []).map(({ name, message }) => `${name}: ${message}`),
    requestId: typeof request_id === 'string' ? request_id : '',
    retryAfter: retryAfter > 0 ? retryAfter : null,
  }
}

function parseJson(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}
