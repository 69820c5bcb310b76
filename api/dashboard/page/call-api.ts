import { createAtom } from './atom.ts'
import { currentApiKey, currentSession, endSession } from './session.ts'

/** What a request is authorised with. A request with the API key may cost credits. */
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
 * Credits left according to the newest response of the product API, and the last four characters
 * of the API key that the request used. Null before the first such response.
 */
export const creditsRemaining = createAtom<{
  readonly left: number
  readonly last4: string
} | null>(null)

/**
 * Sends a request to the service and returns its result. Rejects only if `signal` aborts it.
 * A 401 for the current token ends the session, so that the page asks to sign in again.
 * The type of the body follows from the path; see `responses.ts`.
 */
export async function callApi<Body>(
  path: string,
  credential: ApiCredential = credentialFor(path),
  request: {
    readonly method?: 'POST'
    readonly body?: object
    readonly signal?: AbortSignal
  } = {},
): Promise<ApiResult<Body>> {
  const secret = credential === 'token' ? currentSession()?.token : currentApiKey()
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
  if (left !== null && secret) creditsRemaining.set({ left: Number(left), last4: secret.slice(-4) })
  // The API documents say which body a path returns.
  if (response.ok) return { kind: 'ok', body: parsed as Body, headers: response.headers }
  if (response.status === 401 && credential === 'token' && isCurrentToken(secret))
    endSession('expired')
  return refusal(response, parsed)
}

/** Returns the credential of a path: the token for account pages, the API key for the product. */
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
  const { code, title, request_id } = (body ?? {}) as Record<string, unknown> // checked below
  const retryAfter = Number(response.headers.get('retry-after'))
  return {
    kind: 'refused',
    status: response.status,
    code: typeof code === 'string' ? code : 'unknown',
    title: typeof title === 'string' ? title : 'The service sent an unexpected response.',
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
