import { ServiceError } from '../../domain/service-error.ts'
import type { Logger } from '../../runtime/logger.ts'
import type { IngestMetrics } from '../telemetry.ts'
import { RpcErrorResponse } from './json-rpc.ts'

/** RPC has refused a request for so long that it is given up. */
export class RpcRefusedError extends Error {
  override readonly name = 'RpcRefusedError'
}

/** What is given up when RPC refuses it. */
export type GivenUp = 'block' | 'gap' | 'recheck' | 'finality' | 'mint'

/**
 * Whether the server answered a request and refused it: a JSON-RPC error that a retry does not
 * solve, such as an unsupported transaction version or invalid parameters, or an HTTP status such
 * as 403 and 404. A server that is down, slow, throttling or behind refuses nothing.
 */
export function isRefusal(error: unknown): boolean {
  if (error instanceof RpcErrorResponse) return true
  return error instanceof ServiceError && error.context.refused === true
}

/** Decides when requests that RPC refuses are given up. */
export interface Refusals {
  /** How long refusals are waited for, in milliseconds. */
  readonly boundMs: number
  /** Notes a refusal. Returns whether RPC has refused for long enough. */
  isOver(): boolean
  /** Logs and counts that something was given up. */
  giveUp(what: GivenUp): void
}

/**
 * Refusals are given up `boundMs` after the first one. Those that follow within `boundMs` of
 * another one are given up at once, so that a server that refuses everything costs the bound once.
 */
export function createRefusals(
  boundMs: number,
  deps: { readonly logger: Logger; readonly metrics: Pick<IngestMetrics, 'refused'> },
  now = () => performance.now(),
): Refusals {
  let first = Number.NEGATIVE_INFINITY
  let last = Number.NEGATIVE_INFINITY
  return {
    boundMs,
    isOver() {
      const at = now()
      if (at - last > boundMs) first = at
      last = at
      return at - first >= boundMs
    },
    giveUp(what) {
      deps.logger.warn({ what }, 'RPC refuses for good; ingest goes on without')
      deps.metrics.refused.inc({ what })
    },
  }
}
