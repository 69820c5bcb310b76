import type { ParameterizedContext as Context } from 'koa'
import type { KeyScope } from '../accounts/named-keys.ts'
import type { ProductKey, ProductKeys } from '../auth/product-keys.ts'
import type { Session } from '../auth/session.ts'
import { isSessionKey, type Tokens } from '../auth/tokens.ts'
import { ApiError } from '../errors.ts'
import type { ApiMiddleware } from './context.ts'
import type { FailedAuth } from './failed-auth.ts'
import { addressOfRequest } from './limit-rate.ts'
import { requireKeyUse } from './require-key-use.ts'

/** Called with text that was sent as an API key and is not a valid one. */
export type OnKeyRefused = (text: string, ctx: Parameters<ApiMiddleware>[0]) => void

/** What the middleware needs to check API keys and session keys. */
export interface KeyChecks {
  readonly keys: ProductKeys
  readonly failed: FailedAuth
  readonly onKeyRefused: OnKeyRefused
  /** Records the use of a session key. */
  readonly onSessionUsed: (session: Session, ctx: Parameters<ApiMiddleware>[0]) => void
  readonly trustedProxies: number
}

/**
 * Sets `account` and `key` from the API key or session key in `Authorization: Bearer <API_KEY>`.
 * Never reads the URL. A named key needs `scope`; null: none.
 */
export function authenticate(checks: KeyChecks, scope: KeyScope | null): ApiMiddleware {
  const { keys, failed, onKeyRefused } = checks
  return async function authenticate(ctx, next) {
    const text = bearer(ctx.get('Authorization'))
    const options = { before: ctx.state.limitsPassed, budget: failed(ctx) }
    const key = text === null ? null : await keys.find(text, options)
    if (key === null) {
      if (text !== null) onKeyRefused(text, ctx)
      return refuse(ctx, text, 'key', failed)
    }
    useKey(ctx, key, scope, checks)
    await next()
  }
}

/**
 * Sets `account` or `session` of a WebSocket handshake from an API key or a dashboard token, in
 * `Authorization: Bearer <credential>`. Browsers cannot set that field, so the credential may also
 * come in `Sec-WebSocket-Protocol: bearer, <credential>` (rule F1). Never reads the URL.
 */
export function authenticateFeed(checks: KeyChecks, tokens: Pick<Tokens, 'verify'>): ApiMiddleware {
  const { keys, failed, onKeyRefused } = checks
  return async function authenticateFeed(ctx, next) {
    const text = bearer(ctx.get('Authorization')) ?? subprotocol(ctx.get('Sec-WebSocket-Protocol'))
    if (text === null) return refuse(ctx, null, 'either', failed)
    // A token always has dots, an API key never.
    const isToken = text.includes('.') && !isSessionKey(text)
    const session = isToken ? await tokens.verify(text) : null
    const key = isToken ? null : await keys.find(text, { budget: failed(ctx) })
    if (session === null && key === null) {
      onKeyRefused(text, ctx)
      return refuse(ctx, text, 'either', failed)
    }
    if (session !== null) ctx.state.session = session
    if (key !== null) useKey(ctx, key, 'feed', checks)
    await next()
  }
}

function useKey(
  ctx: Parameters<ApiMiddleware>[0],
  key: ProductKey,
  scope: KeyScope | null,
  { onSessionUsed, trustedProxies }: KeyChecks,
): void {
  requireKeyUse(key, scope, addressOfRequest(ctx, trustedProxies))
  if (key.kind === 'session') onSessionUsed(key.session, ctx)
  ctx.state.account = key.account
  ctx.state.key = key
}

/** Sets `session` from the dashboard token (rule E2). The response must not be cached. */
export function authenticateSession(
  tokens: Pick<Tokens, 'verify'>,
  failed: FailedAuth,
): ApiMiddleware {
  return async function authenticateSession(ctx, next) {
    ctx.set('Cache-Control', 'no-store')
    const text = bearer(ctx.get('Authorization'))
    const session = text === null ? null : await tokens.verify(text)
    if (session === null) return refuse(ctx, text, 'token', failed)
    ctx.state.session = session
    await next()
  }
}

/**
 * Refuses a credential: 401, or 429 for a token when the client has used up its budget of invalid
 * credentials. API keys are counted by the key cache. A token is verified before the budget
 * is checked, which needs no store, so a valid token always passes.
 *
 * The title depends only on the form of the credential. It repeats no part of the credential and
 * reveals nothing that is stored.
 */
async function refuse(
  ctx: Context,
  text: string | null,
  wanted: keyof typeof WANTED,
  failed: FailedAuth,
): Promise<never> {
  const came = text === null ? (hasBareKey(ctx) ? 'bare' : 'none') : kindOf(text)
  // A session key is for the paths of an API key.
  const asked = came === 'session' ? 'key' : came
  const isInvalid =
    (came === 'key' || came === 'token' || came === 'session') &&
    (wanted === 'either' || wanted === asked)
  if (isInvalid && came !== 'key') {
    const budget = failed(ctx)
    budget.require()
    await budget.count()
  }
  const title = isInvalid ? INVALID[came] : `${CAME[came]} ${WANTED[wanted]}`
  throw new ApiError('unauthorized', { title })
}

/** Whether an API key came in another form than `Authorization: Bearer <API_KEY>`. */
function hasBareKey(ctx: Context): boolean {
  return /(?:^|\s)tw_/.test(ctx.get('Authorization')) || ctx.get('X-Api-Key').startsWith('tw_')
}

function kindOf(text: string): 'key' | 'session' | 'token' | 'neither' {
  if (/^tw_[^.]*$/.test(text)) return 'key'
  if (isSessionKey(text)) return 'session'
  return /^[^.]+\.[^.]+\.[^.]+$/.test(text) ? 'token' : 'neither'
}

const CAME = {
  none: 'The request has no credential.',
  bare: 'The API key came without the word Bearer before it.',
  neither: 'The credential is neither an API key nor a dashboard token.',
  key: 'The credential is an API key.',
  token: 'The credential is a dashboard token.',
  session: 'The credential is the key of a dashboard session.',
} as const

const WANTED = {
  key: 'This path requires an API key: Authorization: Bearer tw_<...>.',
  token:
    'This path requires a dashboard token, from POST /auth/login: Authorization: Bearer <token>.',
  either:
    'This path requires an API key, or for the dashboard a token from POST /auth/login: Authorization: Bearer <...>.',
} as const

const INVALID = {
  key: 'This API key is not valid: it was replaced or deleted, has expired, or is mistyped.',
  session: 'This session key is not valid: its session has expired or was revoked. Sign in again.',
  token:
    'This dashboard token is not valid: it has expired, was revoked, or is mistyped. POST /auth/login issues a new one.',
} as const

function bearer(header: string): string | null {
  return /^Bearer +(\S+) *$/i.exec(header)?.[1] ?? null
}

function subprotocol(header: string): string | null {
  return /^bearer *, *(\S+)$/.exec(header)?.[1] ?? null
}
