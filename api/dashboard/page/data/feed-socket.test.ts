import test from 'ava'
import {
  type FeedState,
  type FollowedSocket,
  feedUrl,
  followSocket,
  type SocketLike,
  type SocketMessage,
} from './feed-socket.ts'
import type { Words } from './socket-words.ts'

/** A socket in the hands of a test. */
class HandSocket implements SocketLike {
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
  says(...messages: object[]) {
    for (const message of messages) this.onmessage?.({ data: JSON.stringify(message) })
  }
}

function start(change: Partial<FollowedSocket> = {}) {
  const sockets: HandSocket[] = []
  const timers: { ms: number; act: () => void; isOff: boolean }[] = []
  const states: FeedState[] = []
  const ids: (string | undefined)[] = []
  const notices: Words[] = []
  const feed = followSocket(
    {
      url: 'ws://here/ws',
      credential: 'tw_key',
      channels: ['trades'],
      onMessage: ({ id, type }: SocketMessage) => ids.push(id ?? type),
      onState: (state) => states.push(state),
      onNotice: (words) => notices.push(words),
      whyRefused: async () => null,
      ...change,
    },
    {
      open(_url, protocols) {
        const socket = new HandSocket(protocols)
        sockets.push(socket)
        return socket
      },
      later(ms, act) {
        const timer = { ms, act, isOff: false }
        timers.push(timer)
        return () => {
          timer.isOff = true
        }
      },
      random: () => 1,
    },
  )
  const newest = () => sockets.at(-1) as HandSocket // there is one as soon as it has started
  /** Lets the newest timer come to its end; says how long it was. */
  const pass = () => {
    const timer = timers.findLast(({ isOff }) => !isOff)
    if (timer !== undefined) timer.isOff = true
    timer?.act()
    return timer?.ms
  }
  return { feed, sockets, newest, pass, states, ids, notices, timers }
}

test('the key goes in the handshake, the filter and the place to go on from in the subscribe', (t) => {
  const { newest, states, feed } = start({ wallets: ['W1'], mints: [], after: 'p0' })
  t.deepEqual(newest().protocols, ['bearer', 'tw_key'])
  newest().onopen?.()
  t.deepEqual(newest().sent, [
    { action: 'subscribe', channels: ['trades'], wallets: ['W1'], after: 'p0' },
  ])
  newest().says({ type: 'subscribed', cursor: 'p1' })
  t.deepEqual(states, [{ kind: 'connecting' }, { kind: 'live' }])
  t.is(feed.position(), 'p0')
})

test('after a cut it comes back, later each time, and goes on after the last message', (t) => {
  const { sockets, newest, pass, states, ids, notices } = start()
  newest().onopen?.()
  newest().says({ type: 'subscribed', cursor: 'p1' }, { type: 'ping' })
  newest().says({ channel: 'trades', id: 'p2', data: {} }, { type: 'restarting' })
  newest().onclose?.()
  t.deepEqual([pass(), sockets.length], [500, 2])
  newest().onopen?.()
  t.deepEqual(newest().sent, [{ action: 'subscribe', channels: ['trades'], after: 'p2' }])
  newest().onclose?.()
  t.is(pass(), 1000)
  newest().onopen?.()
  newest().says({ type: 'gap', oldest: 'p5' })
  newest().onclose?.()
  t.is(pass(), 2000)
  newest().onopen?.()
  t.deepEqual(newest().sent, [{ action: 'subscribe', channels: ['trades'], after: 'p5' }])
  newest().says({ channel: 'trades', id: 'p6', data: {} })
  newest().onclose?.()
  t.is(pass(), 500)
  t.deepEqual(ids, ['subscribed', 'p2', 'restarting', 'gap', 'p6'])
  t.deepEqual(
    notices.map(({ tone }) => tone),
    ['info', 'warn'],
  )
  t.deepEqual(
    states.map(({ kind }) => kind),
    ['connecting', 'live', ...Array.from({ length: 4 }, () => ['cut', 'connecting']).flat()],
  )
})

test('what coming back would not mend ends it, in words', async (t) => {
  for (const message of [
    { type: 'balance_exhausted' },
    { type: 'superseded' },
    { type: 'error', code: 'wallet_not_found', message: '...' },
  ]) {
    const { newest, states, pass, sockets } = start()
    newest().onopen?.()
    newest().says(message)
    newest().onclose?.()
    t.is(states.at(-1)?.kind, 'ended')
    t.deepEqual([pass(), sockets.length, newest().isClosed], [undefined, 1, true])
  }
  const why: Words = { tone: 'bad', text: 'No credits are left.' }
  let told = () => {}
  const ended = new Promise<void>((resolve) => {
    told = resolve
  })
  const states: FeedState[] = []
  const { newest } = start({
    whyRefused: async () => why,
    onState(state) {
      states.push(state)
      if (state.kind === 'ended') told()
    },
  })
  newest().onclose?.()
  await ended
  t.deepEqual(states, [{ kind: 'connecting' }, { kind: 'cut' }, { kind: 'ended', why }])
})

test('a service that falls silent is left, and nothing is heard after stop', (t) => {
  const { newest, pass, feed, ids, states } = start()
  newest().onopen?.()
  t.is(pass(), 75_000)
  t.true(newest().isClosed)
  feed.stop()
  newest().says({ channel: 'trades', id: 'p1', data: {} })
  newest().onclose?.()
  t.deepEqual([ids, states.map(({ kind }) => kind)], [[], ['connecting']])
})

test('the feed is where the page is, as safe as the page', (t) => {
  t.deepEqual(
    [
      feedUrl({ protocol: 'https:', host: 'example.org' }),
      feedUrl({ protocol: 'http:', host: 'localhost:8080' }),
    ],
    ['wss://example.org/ws', 'ws://localhost:8080/ws'],
  )
})
