import test from 'ava'
import type { QueryParams, Store } from '../../pipeline/store/store.ts'
import { endOfSlot, lateBefore } from '../cursor.ts'
import { fund, startFeed } from '../testing/start-feed.ts'
import { memoryViews } from '../testing/view-source.ts'
import type { CreditBlock } from './credit-block.ts'
import type { PageRequest } from './history-page.ts'
import type { Transport } from './protocol-handler.ts'
import type { Relay } from './relay.ts'
import { TradeConnection } from './trade-connection.ts'
import { ViewConnection } from './view-connection.ts'
import { encodeView, endOfTick } from './view-position.ts'
import type { ViewReader, ViewRelay } from './view-relay.ts'
import type { ViewSource } from './view-rows.ts'

/* Limits of one client: one page of history at a time, and a number of messages per minute. */

/** Creates reads that the test ends. */
function held() {
  const begun: number[] = []
  const ends: (() => void)[] = []
  return {
    /** Start slots of the reads, in order. */
    begun,
    read(after: number): Promise<void> {
      begun.push(after)
      return new Promise((resolve) => ends.push(resolve))
    },
    /** Ends the oldest reads that are under way. */
    end(count: number) {
      for (const end of ends.splice(0, count)) end()
    },
  }
}

const STORED = { slot: 5000, blockTime: 1_790_000_000 }

/** A store of empty slots. The test ends its reads of the feed's history with `reads`. */
function pagesOf(reads: ReturnType<typeof held>): Store {
  const marker = { slot: '5000', parent: '4999', block_time: STORED.blockTime }
  return {
    kind: 'clickhouse',
    async query<T>(sql: string, params: QueryParams = {}) {
      if (sql.includes('FROM progress'))
        return [{ ...marker, sol_price_time: null, sol_price_usd_e9: null }] as T[]
      if ('toSlot' in params && 'txIndex' in params) await reads.read(Number(params.slot))
      return []
    },
    insert: async () => {},
    command: async () => {},
    ping: async () => {},
    close: async () => {},
  }
}

async function startHistory(connectionsPerKey = 1) {
  const reads = held()
  const service = await startFeed({
    store: pagesOf(reads),
    connectionsPerKey,
    stored: () => STORED,
  })
  for (const account of ['alice', 'bob']) await fund(service.meter, account, 1000)
  const after = (slot: number) =>
    service.cursors.encode('trades', endOfSlot(slot), lateBefore(0, slot))
  return { reads, service, after }
}

test('however often a client subscribes at most one page of history is read or queued, and other accounts are served', async (t) => {
  const { reads, service, after } = await startHistory()
  const alice = await service.connect('alice')
  for (let slot = 1; slot <= 50; slot++)
    alice.send({ action: 'subscribe', channels: ['trades'], after: after(slot) })
  t.is((await alice.take(50)).length, 50)
  t.deepEqual(reads.begun, [1])
  const bob = await service.connect('bob')
  await bob.subscribe({ after: after(100) })
  t.deepEqual(await bob.fence(), [])
  t.deepEqual(reads.begun, [1, 100])
  reads.end(2)
  t.deepEqual(await alice.fence(), [])
  t.deepEqual(reads.begun, [1, 100, 50], 'then what the newest subscription asks for')
  reads.end(1)
  await alice.subscribe({ after: after(7) })
  t.deepEqual(await alice.fence(), [])
  t.deepEqual(reads.begun, [1, 100, 50, 7])
  reads.end(1)
  await service.close()
})

test('a queued page of a connection that has closed or unsubscribed costs no query', async (t) => {
  const { reads, service, after } = await startHistory(3)
  const [first, second, third] = await Promise.all([1, 2, 3].map(() => service.connect('alice')))
  if (!first || !second || !third) return t.fail()
  await first.subscribe({ after: after(1) })
  await second.subscribe({ after: after(2) })
  await third.subscribe({ after: after(3) })
  t.deepEqual(await third.fence(), [])
  t.deepEqual(reads.begun, [1], 'one page of an account at a time')
  await second.close()
  third.send({ action: 'unsubscribe', channels: ['trades'] })
  t.is((await third.take(1)).length, 1)
  await third.subscribe({ after: after(4) })
  reads.end(1)
  t.deepEqual(await third.fence(), [])
  t.deepEqual(reads.begun, [1, 4])
  reads.end(1)
  await service.close()
})

test('however often a dashboard subscribes at most one page is read or queued, and other wallets are served', async (t) => {
  const T = 1_790_000_000
  const views = memoryViews()
  views.tick(T + 1000)
  const reads = held()
  const source: ViewSource = {
    ...views.source,
    async changes(after) {
      await reads.read(after - T)
      return []
    },
  }
  const service = await startFeed({ views: source })
  const after = (at: number) => encodeView(service.cursors, endOfTick(T + at))
  const channels = ['watchlist']
  const alice = await service.connect('dashboard:alice')
  for (let at = 10; at <= 500; at += 10)
    alice.send({ action: 'subscribe', channels, after: after(at) })
  t.is((await alice.take(50)).length, 50)
  const bob = await service.connect('dashboard:bob')
  await bob.subscribe({ channels, after: after(990) })
  t.deepEqual(await bob.fence(), [])
  t.deepEqual(reads.begun, [10, 990])
  reads.end(2)
  t.deepEqual(await alice.fence(), [])
  t.deepEqual(reads.begun, [10, 990, 500])
  await alice.close()
  reads.end(1)
  await service.close()
})

test('a connection takes a limited number of messages and pings per minute; one more is refused and closes it with 1008 (rule F7)', async (t) => {
  let now = 0
  const service = await startFeed({ messagesPerMinute: 3, now: () => now })
  await fund(service.meter, 'alice', 1000)
  const rateLimited = {
    type: 'error',
    code: 'rate_limited',
    message: 'A connection may send at most 3 messages a minute.',
  }
  for (const bearer of ['alice', 'dashboard:alice']) {
    const client = await service.connect(bearer)
    for (let minute = 0; minute < 2; minute++) {
      for (let message = 0; message < 3; message++) t.deepEqual(await client.fence(), [])
      now += 60_000
    }
    client.socket.ping()
    t.deepEqual(await client.fence(), [])
    client.socket.pong() // unsolicited
    client.send('not JSON')
    t.deepEqual(await client.take(1), [rateLimited], 'whatever the message is')
    t.is(await client.closed, 1008)
  }
  await service.close()
})

/** The transport of a client that reads immediately. */
const TRANSPORT: Transport = {
  write() {},
  cork() {},
  uncork() {},
  ping() {},
  close() {},
  terminate() {},
  isOpen: true,
  unsentBytes: 0,
}
const COMMON = {
  transport: TRANSPORT,
  limit: { perMinute: 0, now: () => 0 },
  onSent() {},
  onRetracted() {},
  onEnd() {},
}

test('a connection requests one page at a time, for the subscription that is newest when the page is read', (t) => {
  const requests: (() => PageRequest | null)[] = []
  const positions = [1, 2, 3].map((slot) => ({ key: endOfSlot(slot), late: null }))
  const connection = new TradeConnection(
    {
      ...COMMON,
      account: 'alice',
      key: { account: 'alice', kind: 'own' },
      isTracked: () => true,
      // A part of a relay: what is called for a client whose position is older than the window.
      relay: {
        window: { covers: () => false },
        cursor: '',
        decode: (text: string) => positions[Number(text)],
      } as unknown as Relay,
      history: {
        hasMore: () => true,
        page: (_account, currentRequest) => {
          requests.push(currentRequest)
          return new Promise(() => {})
        },
      },
      creditBlock: () => ({ credits: 1, close: async () => {} }) as unknown as CreditBlock,
    },
    100,
  )
  for (const after of ['0', '1', '2'])
    connection.receive(JSON.stringify({ action: 'subscribe', channels: ['trades'], after }), 100)
  const everything = { wallets: null, mints: null }
  t.deepEqual(
    requests.map((currentRequest) => currentRequest()),
    [{ from: positions[2], filter: everything }],
  )
  connection.end('restarting')
  t.is(requests[0]?.(), null)
})

test('a dashboard asks for one page at a time', (t) => {
  const readers: ViewReader[] = []
  const relay = {
    newest: 100,
    encode: () => '',
    decode: (text: string) => endOfTick(Number(text)),
    isReached: () => false,
    page(_position: unknown, _seconds: number, reader: ViewReader) {
      readers.push(reader)
      return new Promise(() => {})
    },
  } as unknown as ViewRelay // the part that is called for a client that catches up
  const ever = { expiresAt: Number.POSITIVE_INFINITY, proUntil: Number.POSITIVE_INFINITY }
  const viewer = {
    wallet: 'alice',
    tokenId: '',
    generation: 0,
    ...ever,
    isRevoked: async () => false,
    readProUntil: async () => null,
  }
  const connection = new ViewConnection({ ...COMMON, relay, viewer, now: () => 0 })
  const subscribe = (after: string) =>
    connection.receive(JSON.stringify({ action: 'subscribe', channels: ['signals'], after }), 100)
  subscribe('10')
  t.deepEqual(
    readers.map((reader) => reader.isStale()),
    [false],
  )
  for (const after of ['20', '30']) subscribe(after)
  t.deepEqual(
    readers.map((reader) => reader.isStale()),
    [true],
  )
})
