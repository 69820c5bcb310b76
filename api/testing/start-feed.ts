import { once } from 'node:events'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { WebSocket } from 'ws'
import type { Perturb } from '../../pipeline/domain/perturbation.ts'
import { ServiceError } from '../../pipeline/domain/service-error.ts'
import type { EventLog } from '../../pipeline/log/log.ts'
import { createMemoryLog } from '../../pipeline/log/memory.ts'
import { createLogger } from '../../pipeline/runtime/logger.ts'
import { createRegistry } from '../../pipeline/runtime/telemetry.ts'
import type { Store } from '../../pipeline/store/store.ts'
import { type AccountChannel, createMemoryChannel } from '../channel/account-channel.ts'
import { createMemoryMeter } from '../credits/memory.ts'
import { type BlockRenewal, type Meter, STREAM_START } from '../credits/meter.ts'
import { type CursorKeys, createCursorCodec } from '../cursor.ts'
import type { FeedKey, Viewer } from '../middleware/upgrade.ts'
import type { StoredSlot } from '../state-reader.ts'
import { Feed, type FeedDeps, type FeedOptions } from '../stream/feed.ts'
import { ServerMessage } from '../stream/messages.ts'
import type { ViewSource } from '../stream/view-rows.ts'
import { cursorKeys } from './cursor-keys.ts'
import { leftOf } from './left-of.ts'

/** Grants credits to an account. */
export async function fund(meter: Meter, account: string, credits: number): Promise<void> {
  const epoch = await meter.epoch()
  const total = { funded: credits, entries: 1, used: 0 }
  await meter.load({ epoch, rolledTo: STREAM_START }, new Map([[account, total]]))
}

/** Renews blocks of a meter. Rejects if none is granted. */
export function blocksOf(meter: Meter) {
  return {
    async renewBlock(account: string, renewal: BlockRenewal) {
      const grant = await meter.renewBlock(account, renewal)
      if (grant.kind === 'granted') return grant
      throw new ServiceError('unavailable', grant.kind)
    },
  }
}

/**
 * Starts a feed on a free port, over a log and a meter in memory. The bearer of a connection is the
 * name of its account. `dashboard:<wallet>` is a dashboard of that wallet, with a token of the same
 * name. 100 wallets are tracked.
 */
export async function startFeed(
  options: FeedOptions & {
    readonly connectionsPerKey?: number
    readonly retentionHours?: number
    readonly messagesPerMinute?: number
    /** Stored data and its marker; empty by default. */
    readonly store?: Store
    readonly stored?: () => StoredSlot | null
    readonly log?: EventLog
    readonly channel?: AccountChannel
    /** Keys of positions; by default one. */
    readonly keys?: CursorKeys
    /** The key of a bearer; by default the own key of the account of that name. */
    readonly keyOf?: (bearer: string) => FeedKey
    readonly findNamedKeys?: FeedDeps['findNamedKeys']
    /** Accounts whose key was revoked; none by default. */
    readonly revokedSince?: FeedDeps['revokedSince']
    readonly perturb?: Perturb | null
    readonly meter?: Meter
    /** The caller closes the log. */
    readonly keepLog?: boolean
    /** Source of the views; by default the store. */
    readonly views?: ViewSource
    /** Changes the access of a wallet to views; by default it never ends. */
    readonly viewer?: (wallet: string) => Partial<Viewer>
    /** Called for each retraction that is sent; by default nothing is given back. */
    readonly giveBackLater?: FeedDeps['credits']['giveBackLater']
    /** Called before each renewal of a block. If it throws, the meter fails with that error. */
    readonly beforeRenewal?: () => Promise<void>
  } = {},
) {
  const logger = createLogger('silent')
  const registry = createRegistry()
  const log = options.log ?? createMemoryLog({ logger, registry: createRegistry() }, { epoch: 0 })
  const cursors = createCursorCodec(options.keys ?? cursorKeys(1))
  const meter = options.meter ?? createMemoryMeter()
  const blocks = blocksOf(meter)
  const credits = {
    giveBackLater: options.giveBackLater ?? (() => {}),
    async renewBlock(account: string, renewal: BlockRenewal) {
      await options.beforeRenewal?.()
      return blocks.renewBlock(account, renewal)
    },
  }
  const pulses = new Map<number, () => Promise<void>>()
  const every = (ms: number, run: () => Promise<void>) => {
    pulses.set(ms, run)
    return () => {}
  }
  const { connectionsPerKey = 1, retentionHours = 24, store = EMPTY_STORE } = options
  const { channel = createMemoryChannel() } = options
  const feed = new Feed(
    {
      log,
      cursors,
      credits,
      connectionsPerKey,
      retentionHours,
      logger,
      registry,
      channel,
      messagesPerMinute: options.messagesPerMinute,
      perturb: options.perturb ?? null,
      ...(options.revokedSince && { revokedSince: options.revokedSince }),
      ...(options.findNamedKeys && { findNamedKeys: options.findNamedKeys }),
      ...(options.views && { views: () => options.views! }),
    },
    { every, block: { pause: async () => {} }, ...options },
  )
  await feed.start({ walletCount: () => 100, stored: options.stored ?? (() => null) }, store)
  const server = createServer()
  server.on('upgrade', async (request, socket, head) => {
    const account = request.headers.authorization?.replace('Bearer ', '') ?? ''
    const [, wallet] = /^dashboard:(.*)/.exec(account) ?? []
    if (wallet !== undefined) {
      const ever = { expiresAt: Number.POSITIVE_INFINITY, proUntil: Number.POSITIVE_INFINITY }
      const accountReads = { isRevoked: async () => false, readProUntil: async () => null }
      const viewer = {
        wallet,
        tokenId: wallet,
        generation: 0,
        ...ever,
        ...accountReads,
        ...options.viewer?.(wallet),
      }
      feed.acceptViewer({ request, socket, head }, viewer)
      return
    }
    const key = options.keyOf?.(account) ?? { account, kind: 'own' as const }
    feed.accept({ request, socket, head }, key, (await leftOf(meter, key.account)) ?? 0)
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  const { port } = server.address() as AddressInfo // a TCP address
  return {
    log,
    cursors,
    meter,
    feed,
    channel,
    registry,
    port,
    beat: () => void pulses.get(30_000)?.(),
    /** Runs the timers of one second. Resolves when a tick that was there has been read. */
    second: async () => pulses.get(1000)?.(),
    connect: (account: string, more?: { readonly autoPong: boolean }) =>
      connect(`ws://127.0.0.1:${port}/ws`, account, more),
    async close() {
      await feed.stop(1000)
      server.close()
      if (!options.keepLog) await log.close()
    },
  }
}

const EMPTY_STORE: Store = {
  kind: 'chdb',
  query: async () => [],
  insert: async () => {},
  command: async () => {},
  ping: async () => {},
  close: async () => {},
}

export type FeedClient = Awaited<ReturnType<typeof connect>>

/** Connects a client that collects its messages and checks each against the schemas (rule D7). */
export async function connect(url: string, bearer: string, options = {}) {
  const socket = new WebSocket(url, { headers: { authorization: `Bearer ${bearer}` }, ...options })
  const received: unknown[] = []
  let check: () => void = () => {}
  socket.on('message', (data: Buffer) => {
    received.push(ServerMessage.parse(JSON.parse(data.toString())))
    check()
  })
  const closed = new Promise<number>((resolve) => {
    socket.on('close', (code) => {
      resolve(code)
      check()
    })
  })
  await once(socket, 'open')
  const client = {
    socket,
    received,
    /** The close code. */
    closed,
    send(message: unknown): void {
      socket.send(typeof message === 'string' ? message : JSON.stringify(message))
    },
    /** Returns the next `count` messages not taken yet; fewer if the connection closes. */
    take: (count: number) =>
      new Promise<unknown[]>((resolve) => {
        check = () => {
          if (received.length < count && socket.readyState === WebSocket.OPEN) return
          check = () => {}
          resolve(received.splice(0, count))
        }
        check()
      }),
    async subscribe(more: object = {}) {
      client.send({ action: 'subscribe', channels: ['trades'], ...more })
      const [answer] = await client.take(1)
      return answer
    },
    /** Resolves when there is another message not taken yet. Rejects when the connection ends. */
    more: () =>
      new Promise<void>((resolve, reject) => {
        const { length } = received
        check = () => {
          if (received.length > length) resolve()
          else if (socket.readyState !== WebSocket.OPEN) reject(new Error('closed'))
          else return
          check = () => {}
        }
        check()
      }),
    /**
     * Returns all messages that the service sent before it answers now. With `keep`, earlier
     * messages stay for `take`.
     */
    async fence(keep = false): Promise<unknown[]> {
      const kept = keep ? received.splice(0) : []
      client.send({ action: 'ping' })
      const before: unknown[] = []
      for (;;) {
        const [message] = await client.take(1)
        if (message === undefined || (message as { type?: string }).type === 'pong') {
          received.unshift(...kept)
          return before
        }
        before.push(message)
      }
    },
    async close(): Promise<void> {
      socket.close()
      await closed
    },
  }
  return client
}
