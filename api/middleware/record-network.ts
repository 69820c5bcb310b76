import { networkOf } from '../accounts/network-of.ts'
import type { ApiMiddleware } from './context.ts'
import { clientOfRequest } from './limit-rate.ts'

/**
 * Returns the client's network as security events name it. `trustedProxies` is the number of
 * proxies in front of this server.
 */
export function clientNetwork(ctx: Parameters<ApiMiddleware>[0], trustedProxies: number): string {
  return networkOf(clientOfRequest(ctx, trustedProxies))
}

/** Sets `network` for the handler. */
export function recordNetwork(trustedProxies: number): ApiMiddleware {
  return function knowNetwork(ctx, next) {
    ctx.state.network = clientNetwork(ctx, trustedProxies)
    return next()
  }
}
