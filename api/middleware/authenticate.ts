import type { KeyLookUp } from '../accounts/key-cache.ts'
import type { Tokens } from '../auth/tokens.ts'
import { ApiError } from '../errors.ts'
import type { Step } from './context.ts'

/** Finds the account of the request's API key: `Authorization: Bearer <API_KEY>`. Never from the URL. */
export function authenticate(keys: Pick<KeyLookUp, 'accountOf'>): Step {
  return async function authenticate(ctx, next) {
    const text = bearer(ctx.get('Authorization'))
    const account = text === null ? null : await keys.accountOf(text, ctx.state.passed)
    if (account === null) throw unauthorized(text, 'key')
    ctx.state.account = account
    await next()
  }
}

/**
 * Finds who asks for the feed, by an API key or by a dashboard token: `Authorization: Bearer <it>`, and for browsers, which cannot set that field there,
 * `Sec-WebSocket-Protocol: bearer, <it>` (decisions F1). Never from the URL.
 */
export function authenticateFeed(
  keys: Pick<KeyLookUp, 'accountOf'>,
  tokens: Pick<Tokens, 'verify'>,
): Step {
  return async function authenticateFeed(ctx, next) {
    const text = bearer(ctx.get('Authorization')) ?? subprotocol(ctx.get('Sec-WebSocket-Protocol'))
    if (text === null) throw unauthorized(null, 'either')
    // No key has a dot, and no token none.
    const session = text.includes('.') ? await tokens.verify(text) : null
    const account = text.includes('.') ? null : await keys.accountOf(text)
    if (session === null && account === null) throw unauthorized(text, 'either')
    if (session !== null) ctx.state.session = session
    if (account !== null) ctx.state.account = account
    await next()
  }
}

/** Finds who is logged in with the request's dashboard token (decisions E2). What it answers is for nobody else, and kept nowhere. */
export function authenticateSession(tokens: Pick<Tokens, 'verify'>): Step {
  return async function authenticateSession(ctx, next) {
    ctx.set('Cache-Control', 'no-store')
    const text = bearer(ctx.get('Authorization'))
    const session = text === null ? null : await tokens.verify(text)
    if (session === null) throw unauthorized(text, 'token')
    ctx.state.session = session
    await next()
  }
}

/** Says what came and what is wanted, by the form of what came alone: nothing of it is repeated, and nothing that is stored is told. */
function unauthorized(text: string | null, wanted: keyof typeof WANTED): ApiError {
  const came = text === null ? 'none' : kindOf(text)
  const isForm = (came === 'key' || came === 'token') && (wanted === 'either' || wanted === came)
  const title = isForm ? INVALID[came] : `${CAME[came]} ${WANTED[wanted]}`
  return new ApiError('unauthorized', { title })
}

function kindOf(text: string): 'key' | 'token' | 'neither' {
  if (/^tw_[^.]*$/.test(text)) return 'key'
  return /^[^.]+\.[^.]+\.[^.]+$/.test(text) ? 'token' : 'neither'
}

const CAME = {
  none: 'No credential came.',
  neither: 'What came is neither an API key nor a dashboard token.',
  key: 'This is an API key.',
  token: 'This is a dashboard token.',
} as const

const WANTED = {
  key: 'Here an API key is needed: Authorization: Bearer tw_<...>.',
  token: 'Here a dashboard token is needed, from POST /auth/login: Authorization: Bearer <token>.',
  either:
    'An API key is needed, or for the dashboard a token from POST /auth/login: Authorization: Bearer <...>.',
} as const

const INVALID = {
  key: 'This API key is not valid: it was replaced, or is mistyped.',
  token:
    'This dashboard token is not valid: it has expired, was taken back, or is mistyped. POST /auth/login gives a new one.',
} as const

function bearer(header: string): string | null {
  return /^Bearer +(\S+) *$/i.exec(header)?.[1] ?? null
}

function subprotocol(header: string): string | null {
  return /^bearer *, *(\S+)$/.exec(header)?.[1] ?? null
}
