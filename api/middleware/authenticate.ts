import type { KeyLookUp } from '../accounts/key-cache.ts'
import type { Tokens } from '../auth/tokens.ts'
import { ApiError } from '../errors.ts'
import type { Step } from './context.ts'

/**
 * Finds the account of the request's API key: `Authorization: Bearer <API_KEY>`, and for browsers that open a WebSocket
 * `Sec-WebSocket-Protocol: bearer, <API_KEY>` (decisions F1). Never from the URL.
 */
export function authenticate(keys: Pick<KeyLookUp, 'accountOf'>): Step {
  return async function authenticate(ctx, next) {
    const text = bearer(ctx.get('Authorization')) ?? subprotocol(ctx.get('Sec-WebSocket-Protocol'))
    const account = text === null ? null : await keys.accountOf(text, ctx.state.passed)
    if (account === null) throw new ApiError('unauthorized')
    ctx.state.account = account
    await next()
  }
}

/** Finds who is logged in with the request's dashboard token (decisions E2). What it answers is for nobody else, and kept nowhere. */
export function authenticateSession(tokens: Pick<Tokens, 'verify'>): Step {
  return async function authenticateSession(ctx, next) {
    ctx.set('Cache-Control', 'no-store')
    const text = bearer(ctx.get('Authorization'))
    const session = text === null ? null : await tokens.verify(text)
    if (session === null) throw new ApiError('unauthorized')
    ctx.state.session = session
    await next()
  }
}

function bearer(header: string): string | null {
  return /^Bearer +(\S+) *$/i.exec(header)?.[1] ?? null
}

function subprotocol(header: string): string | null {
  return /^bearer *, *(\S+)$/.exec(header)?.[1] ?? null
}
