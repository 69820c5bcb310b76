import { createCell } from './cell.ts'
import { currentApiKey, currentSession, endSession } from './session.ts'

/** Whose call it is: anybody's, of who is signed in, or of an API key (then it may cost credits). */
export type Credential = 'none' | 'token' | 'key'

/** The service gave no answer that could be used. */
export type Unanswered =
  | { readonly kind: 'unreachable' }
  | {
      readonly kind: 'refused'
      readonly status: number
      /** To decide by: section 7 of the contract, rules of section D. */
      readonly code: string
      /** A sentence for people. */
      readonly title: string
      /** Names the request in the service's log; empty where there is none. */
      readonly requestId: string
      /** Seconds, where the service says so. */
      readonly retryAfter: number | null
    }

export type Answered<Body> =
  | { readonly kind: 'answer'; readonly body: Body; readonly headers: Headers }
  | Unanswered

/** What the newest product answer said is left, and the end of the key that it was asked with. */
export const creditsLeft = createCell<{ readonly left: number; readonly last4: string } | null>(
  null,
)

/**
 * Asks the service; never rejects, but when `signal` says so. A token that is not valid any more ends the session, so that the page asks to sign in again. What an answer
 * is follows from the path: see the documents.
 */
export async function ask<Body>(
  path: string,
  credential: Credential = credentialOf(path),
  request: {
    readonly method?: 'POST'
    readonly body?: object
    readonly signal?: AbortSignal
  } = {},
): Promise<Answered<Body>> {
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
  const parsed = parse(text)
  const left = response.headers.get('x-credits-remaining')
  if (left !== null && secret) creditsLeft.set({ left: Number(left), last4: secret.slice(-4) })
  if (response.ok) return { kind: 'answer', body: parsed as Body, headers: response.headers } // as documented
  if (response.status === 401 && credential === 'token' && isCurrent(secret)) endSession('expired')
  return refusal(response, parsed)
}

/** What a path is asked with: the account's pages by who is signed in, the product by key. */
export function credentialOf(path: string): Credential {
  if (path.startsWith('/me/') || path.startsWith('/auth/logout')) return 'token'
  if (path.startsWith('/billing/')) return path === '/billing/plans' ? 'none' : 'token'
  return /^\/(wallets|tokens|trades)\b/.test(path) ? 'key' : 'none'
}

function isCurrent(token: string | null | undefined): boolean {
  const session = currentSession()
  return session !== null && session.token === token
}

function refusal(response: Response, body: unknown): Unanswered {
  const { code, title, request_id } = (body ?? {}) as Record<string, unknown> // members are looked at below
  const retryAfter = Number(response.headers.get('retry-after'))
  return {
    kind: 'refused',
    status: response.status,
    code: typeof code === 'string' ? code : 'unknown',
    title:
      typeof title === 'string' ? title : 'The service gave an answer that it should not give.',
    requestId: typeof request_id === 'string' ? request_id : '',
    retryAfter: retryAfter > 0 ? retryAfter : null,
  }
}

function parse(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}
