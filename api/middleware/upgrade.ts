import type { IncomingMessage } from 'node:http'
import type { Duplex } from 'node:stream'
import type { Credits } from '../credits/credits.ts'
import { ApiError } from '../errors.ts'
import type { Step } from './context.ts'

/** A connection whose client asks to speak WebSocket on it. */
export interface Upgrade {
  readonly request: IncomingMessage
  readonly socket: Duplex
  /** What of the connection was read beyond the request. */
  readonly head: Buffer
}

/** Takes connections over, for an account that has so many credits left. */
export interface UpgradeHandler {
  accept(upgrade: Upgrade, account: string, left: number): void
}

/** Refuses those who could not pay for a single message (decisions F1). */
export function requireCredits(credits: Credits): Step {
  return async function requireCredits(ctx, next) {
    const left = await credits.left(ctx.state.account ?? '')
    ctx.state.left = left
    if (left < 1) throw new ApiError('insufficient_credits')
    await next()
  }
}

/** Hands the connection over; `upgradeOf` knows the requests that ask for it. */
export function upgrade(
  handler: UpgradeHandler,
  upgradeOf: (request: IncomingMessage) => Upgrade | undefined,
): Step {
  return async function upgrade(ctx) {
    const asked = upgradeOf(ctx.req)
    if (asked === undefined || ctx.get('Upgrade').toLowerCase() !== 'websocket')
      throw new ApiError('upgrade_required', {
        headers: { Upgrade: 'websocket', Connection: 'Upgrade, close' },
      })
    ctx.respond = false
    ctx.res.detachSocket(ctx.req.socket)
    handler.accept(asked, ctx.state.account ?? '', ctx.state.left ?? 0)
  }
}
