import type { Middleware } from 'koa'
import type { Session } from '../auth/session.ts'

/** What the middleware learns of a request on its way. */
export interface RequestState {
  /** Ours, not the client's: credits are charged once for each. */
  requestId: string
  /** The path as declared, once one was found. */
  resource?: string
  /** Set by `limitRateMeanwhile`: resolves when the limit lets the request pass, rejects with `rate_limited`. What a refused request must not reach waits for it. */
  limitsPassed?: Promise<void>
  /** Set by `authenticate` and `authenticateFeed`. */
  account?: string
  /** Set by `authenticateSession` and `authenticateFeed`. */
  session?: Session
  /** Set by `knowNetwork`. */
  network?: string
  /** Set by `requirePro`: when Pro is over, unix seconds. */
  proUntil?: number
  /** Credits charged so far, and left after it, where known. */
  cost: number
  left?: number
  /** Set by `readBody`: what the JSON text of the body says. */
  body?: unknown
  /** Set by `validate`. */
  input?: unknown
}

export type ApiMiddleware = Middleware<RequestState>
