import test from 'ava'
import type { FeedNotice } from './feed-notices.ts'
import {
  feedUrl,
  openFeedSocket,
  type SocketLike,
  type SocketMessage,
  type SocketOptions,
  type SocketState,
} from './feed-socket.ts'

/** A socket that a test controls. */
class FakeSocket implements SocketLike {
  onopen: (() => void) | null = null
  onmessage: ((event: { readonly data: unknown }) => void) | null = null
  onclose: (() => void) | null = null
  readonly protocols: readonly string[]
  readonly sent: unknown[] = []
  isClosed = false
  constructor(protocols: readonly string[]) {
    this.protocols = protocols
  }
  send(text: string) {
    this.sent.push(JSON.parse(text))
  }
  close() {
    this.isClosed = true
  }
  receive(...messages: object[]) {
    for (const message of messages) this.onmessage?.({ data: JSON.stringify(message) })
  }
}

function start(change: Partial<SocketOptions> = {}) {
  const sockets: FakeSocket[] = []
  const timers: { ms: number; act: () => void; isCancelled: boolean }[] = []
  const states: SocketState[] = []
  const ids: (string | undefined)[] = []
  const notices: FeedNotice[] = []
  const feed = openFeedSocket(
    {
      url: 'ws://here/ws',
      credential: 'tw_key',
      channels: ['trades'],
      onMessage: ({ id, type }: SocketMessage) => ids.push(id ?? type),
      onState: (state) => states.push(state),
      onNotice: (words) => notices.push(words),
      explainRefusal: async () => null,
      ...change,
    },
    {
      open(_url, protocols) {
        const socket = new FakeSocket(protocols)
        sockets.push(socket)
        return socket
      },
      schedule(ms, act) {
        const timer = { ms, act, isCancelled: false }
        timers.push(timer)
        return () => {
          timer.isCancelled = true
        }
      },
      random: () => 1,
    },
  )
  const newest = () => sockets.at(-1) as FakeSocket // opened by openFeedSocket
  /** Runs the newest timer and returns its milliseconds. */
  const runTimer = () => {
    const timer = timers.findLast(({ isCancelled }) => !isCancelled)
    if (timer !== undefined) timer.isCancelled = true
    timer?.act()
    return timer?.ms
  }
  return { feed, sockets, newest, runTimer, states, ids, notices, timers }
}

test('the handshake has the API key, and the subscription has the filter and the position', (t) => {
  const { newest, states, feed } = start({ wallets: ['W1'], mints: [], after: 'p0' })
  t.deepEqual(newest().protocols, ['bearer', 'tw_key'])
  newest().onopen?.()
  t.deepEqual(newest().sent, [
    { action: 'subscribe', channels: ['trades'], wallets: ['W1'], after: 'p0' },
  ])
  newest().receive({ type: 'subscribed', cursor: 'p1' })
  t.deepEqual(states, [{ kind: 'connecting' }, { kind: 'live' }])
  t.is(feed.position(), 'p0')
})

test('after a lost connection the feed reconnects with backoff and resumes after the last message', (t) => {
  const { sockets, newest, runTimer, states, ids, notices } = start()
  newest().onopen?.()
  newest().receive({ type: 'subscribed', cursor: 'p1' }, { type: 'ping' })
  newest().receive({ channel: 'trades', id: 'p2', data: {} }, { type: 'restarting' })
  newest().onclose?.()
  t.deepEqual([runTimer(), sockets.length], [500, 2])
  newest().onopen?.()
  t.deepEqual(newest().sent, [{ action: 'subscribe', channels: ['trades'], after: 'p2' }])
  newest().onclose?.()
  t.is(runTimer(), 1000)
  newest().onopen?.()
  newest().receive({ type: 'gap', oldest: 'p5' })
  newest().onclose?.()
  t.is(runTimer(), 2000)
  newest().onopen?.()
  t.deepEqual(newest().sent, [{ action: 'subscribe', channels: ['trades'], after: 'p5' }])
  newest().receive({ channel: 'trades', id: 'p6', data: {} })
  newest().onclose?.()
  t.is(runTimer(), 500)
  t.deepEqual(ids, ['subscribed', 'p2', 'restarting', 'gap', 'p6'])
  t.deepEqual(
    notices.map(({ tone }) => tone),
    ['info', 'warn'],
  )
  t.deepEqual(
    states.map(({ kind }) => kind),
    [
      'connecting',
      'live',
      ...Array.from({ length: 4 }, () => ['reconnecting', 'connecting']).flat(),
    ],
  )
})

test('a final message or refusal ends the feed with a notice', async (t) => {
  for (const message of [
    { type: 'balance_exhausted' },
    { type: 'superseded' },
    { type: 'error', code: 'wallet_not_found', message: '...' },
  ]) {
    const { newest, states, runTimer, sockets } = start()
    newest().onopen?.()
    newest().receive(message)
    newest().onclose?.()
    t.is(states.at(-1)?.kind, 'ended')
    t.deepEqual([runTimer(), sockets.length, newest().isClosed], [undefined, 1, true])
  }
  const notice: FeedNotice = { tone: 'bad', text: 'No credits are left.' }
  let markEnded = () => {}
  const ended = new Promise<void>((resolve) => {
    markEnded = resolve
  })
  const states: SocketState[] = []
  const { newest } = start({
    explainRefusal: async () => notice,
    onState(state) {
      states.push(state)
      if (state.kind === 'ended') markEnded()
    },
  })
  newest().onclose?.()
  await ended
  t.deepEqual(states, [{ kind: 'connecting' }, { kind: 'reconnecting' }, { kind: 'ended', notice }])
})

test('without heartbeats the connection is closed, and after stop nothing is reported', (t) => {
  const { newest, runTimer, feed, ids, states } = start()
  newest().onopen?.()
  t.is(runTimer(), 75_000)
  t.true(newest().isClosed)
  feed.stop()
  newest().receive({ channel: 'trades', id: 'p1', data: {} })
  newest().onclose?.()
  t.deepEqual([ids, states.map(({ kind }) => kind)], [[], ['connecting']])
})

test('the URL of the feed has the host of the page, and TLS if the page has', (t) => {
  t.deepEqual(
    [
      feedUrl({ protocol: 'https:', host: 'example.org' }),
      feedUrl({ protocol: 'http:', host: 'localhost:8080' }),
    ],
    ['wss://example.org/ws', 'ws://localhost:8080/ws'],
  )
})
