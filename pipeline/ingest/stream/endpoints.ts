import type { Logger } from '../../runtime/logger.ts'
import { pause } from '../../runtime/pause.ts'
import { DEFAULT_FOLLOW_LIMITS } from '../follow-limits.ts'
import { readEnvelope } from '../wire/update-envelope.ts'
import { createBackoff } from './backoff.ts'
import { ENDPOINT_LIMITS, type EndpointLimits, EndpointWatch } from './endpoint-watch.ts'
import { openSession } from './stream-session.ts'
import { confirmedBlocksRequest, hasConfirmedBlocks } from './subscribe-request.ts'
import type {
  OpenUpdateStream,
  StreamEnd,
  UpdateStream,
  UpdateStreamOptions,
} from './yellowstone.ts'

/** A Yellowstone server. */
export interface StreamServer {
  readonly endpoint: string
  readonly xToken: string | null
}

/** Yellowstone servers, at least one. */
export type StreamServers = readonly [StreamServer, ...StreamServer[]]

/**
 * Opens streams from one of several servers (`YELLOWSTONE_ENDPOINT`). The server in the options is
 * ignored. With one server this is `open`.
 *
 * A stream of confirmed blocks comes from the first server, until that cannot be reached, stalls,
 * lags, or has other blocks than most of the others: see `EndpointWatch`. For this the block metas
 * of the others are followed while the stream is open. A stream that is left ends as `failed`, and
 * the caller opens the next one at the slot that it needs. Each other stream comes from the next
 * server in turn.
 */
export function openAmong(
  servers: StreamServers,
  deps: { readonly open: OpenUpdateStream; readonly logger: Logger },
  limits: EndpointLimits = ENDPOINT_LIMITS,
): OpenUpdateStream {
  const { open, logger } = deps
  if (servers.length === 1) return open
  let current = 0
  let turn = 0

  function leave(server: number, next: number, reason: string): void {
    if (current !== server) return
    current = next
    logger.warn({ server: server + 1, next: next + 1, reason }, 'Yellowstone server left')
  }

  return async (options) => {
    if (!hasConfirmedBlocks(options.request))
      return open({ ...options, ...servers[turn++ % servers.length] })
    let end: StreamEnd = { kind: 'failed', message: 'no server' }
    for (let tries = 0; tries < servers.length; tries += 1) {
      const server = current
      const opened = await openFrom(server, options)
      if (!('kind' in opened) || (opened.kind !== 'failed' && opened.kind !== 'refused'))
        return opened
      end = opened
      const reason = opened.kind === 'failed' ? opened.message : 'it refuses the token'
      leave(server, (server + 1) % servers.length, reason)
    }
    return end
  }

  /** Opens a stream from a server, which is left when the watch says so. */
  async function openFrom(
    server: number,
    options: UpdateStreamOptions,
  ): Promise<UpdateStream | StreamEnd> {
    const now = () => performance.now()
    const watch = new EndpointWatch(servers.length, server, limits, now())
    const over = new AbortController()
    const opening = open({
      ...options,
      ...servers[server],
      onUpdate(bytes) {
        if (over.signal.aborted) return
        const envelope = readEnvelope(bytes)
        if (envelope?.kind === 'meta') watch.onBlock(server, envelope, now())
        options.onUpdate(bytes)
      },
      onEnd(end) {
        if (over.signal.aborted) return
        over.abort()
        if (end.kind === 'failed' || end.kind === 'refused') leave(server, watch.next, end.kind)
        options.onEnd(end)
      },
    })
    const late = pause(limits.stallMs, over.signal).then(() => null)
    const opened = await Promise.race([opening, late])
    if (opened === null) {
      over.abort()
      // It may open later.
      void opening.then((stream) => 'kind' in stream || stream.close())
      return { kind: 'failed', message: `no stream within ${limits.stallMs} ms` }
    }
    if ('kind' in opened) {
      over.abort()
      return opened
    }
    const tick = setInterval(() => {
      const fault = watch.fault(now())
      if (fault === null) return
      leave(server, watch.next, fault)
      over.abort()
      opened.close()
      options.onEnd({ kind: 'failed', message: fault })
    }, limits.stallMs / 10)
    over.signal.addEventListener('abort', () => clearInterval(tick))
    for (const other of servers.keys())
      if (other !== server) void followBlocks(other, watch, over.signal)
    return {
      send: opened.send,
      close() {
        // The follower gave up waiting, and no other server had blocks.
        if (!over.signal.aborted && watch.isSilent(now())) leave(server, watch.next, 'silent')
        over.abort()
        opened.close()
      },
    }
  }

  /** Follows the confirmed blocks of a server until `stop`. */
  async function followBlocks(server: number, watch: EndpointWatch, stop: AbortSignal) {
    const from = servers[server]
    const backoff = createBackoff(DEFAULT_FOLLOW_LIMITS)
    while (from !== undefined && !stop.aborted) {
      const session = await openSession({
        ...from,
        request: confirmedBlocksRequest(),
        open,
        limits: DEFAULT_FOLLOW_LIMITS,
        onUpdate(envelope) {
          if (envelope?.kind === 'meta') watch.onBlock(server, envelope, performance.now())
        },
      })
      if (!('kind' in session)) {
        const close = () => session.end({ kind: 'closed' })
        stop.addEventListener('abort', close, { once: true })
        if (stop.aborted) close()
        await session.ended
        stop.removeEventListener('abort', close)
      }
      await pause(backoff.next(), stop)
    }
  }
}
