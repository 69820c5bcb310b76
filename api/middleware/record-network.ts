import { networkOf } from '../accounts/network-of.ts'
import { clientOf } from '../rate-limits/client-of.ts'
import type { ApiMiddleware } from './context.ts'

/**
 * Returns the client's network as security events name it. `trustedProxies` is the number of
 * proxies in front of this server.
 */
export function clientNetwork(ctx: Parameters<ApiMiddleware>[0], trustedProxies: number): string {
  const { remoteAddress } = ctx.req.socket
  return networkOf(clientOf(remoteAddress, ctx.get('X-Forwarded-For'), trustedProxies))
}

/** Sets `network` for the handler. */
export function recordNetwork(trustedProxies: number): ApiMiddleware {
  return function knowNetwork(ctx, next) {
    ctx.state.network = clientNetwork(ctx, trustedProxies)
    return next()
  }
}
