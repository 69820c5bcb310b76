import type { Middleware } from 'koa'
import type { ProductKey } from '../auth/product-keys.ts'
import type { Session } from '../auth/session.ts'

/** State of a request, which the middleware fills in. */
export interface RequestState {
  /** Id of the request, never taken from the client. It is the idempotency key of the charge. */
  requestId: string
  /** The declared path of the resource. */
  resource?: string
  /**
   * Set by `startRateLimit` and `limitAccount`: resolves when the limits let the request pass, and
   * rejects with `rate_limited`. Steps that a refused request must not reach await it.
   */
  limitsPassed?: Promise<void>
  /** Set by `authenticate` and `authenticateFeed`. */
  account?: string
  /** Set with `account`: the key of the request. */
  key?: ProductKey
  /** Set by `authenticateSession` and `authenticateFeed`. */
  session?: Session
  /** Set by `recordNetwork`. */
  network?: string
  /** Set by `requirePro`: when Pro ends, unix seconds. */
  proUntil?: number
  /** Credits charged so far, and credits left afterwards if known. */
  cost: number
  /** Set by `respond`: the response costs nothing, although its resource has a price. */
  isFree?: boolean
  left?: number
  /** Set by `readBody`: the parsed JSON body. */
  body?: unknown
  /** Set by `validate`. */
  input?: unknown
}

/** Koa middleware with the state of a request. */
export type ApiMiddleware = Middleware<RequestState>

/** The status that the client got. The feed answers the handshakes that it accepts itself. */
export function answeredStatus(ctx: Parameters<ApiMiddleware>[0]): number {
  return ctx.respond === false ? 101 : ctx.status
}
