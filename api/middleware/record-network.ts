import { networkOf } from '../accounts/network-of.ts'
import type { SessionUses } from '../auth/session-uses.ts'
import type { ApiMiddleware } from './context.ts'
import { clientOfRequest } from './limit-rate.ts'

/**
 * Returns the client's network as security events name it. `trustedProxies` is the number of
 * proxies in front of this server.
 */
export function clientNetwork(ctx: Parameters<ApiMiddleware>[0], trustedProxies: number): string {
  return networkOf(clientOfRequest(ctx, trustedProxies))
}

/** Sets `network` for the handler, and records the use of a session. */
export function recordNetwork(
  trustedProxies: number,
  sessionUses: Pick<SessionUses, 'mark'>,
): ApiMiddleware {
  return function knowNetwork(ctx, next) {
    const { session } = ctx.state
    ctx.state.network = clientNetwork(ctx, trustedProxies)
    if (session !== undefined) sessionUses.mark(session, ctx.state.network)
    return next()
  }
}
