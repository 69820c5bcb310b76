import test from 'ava'
import type { ApiResult } from '../call-api.ts'
import type { SocketOptions } from './feed-socket.ts'
import { LiveTradeFeed } from './trade-feed.ts'

const NO_FILTER = { wallets: [], mints: [] }

const aTrade = (block_time: number) => ({
  block_time,
  wallet: 'W1',
  side: 'buy',
  mint: 'DezXAZ8z7PnrnRJjz3wXBoRgixCa6xjnB7YaB1pPB263',
  token_amount: '1',
  decimals: 0,
  sol_amount: 1,
  quote_mint: null,
  quote_amount: '0',
  program: 'pumpswap',
})

/** A feed whose history has one trade and whose sockets the test controls. */
function startFeed(respond: () => Promise<ApiResult<unknown>> = async () => history()) {
  const sockets: { options: SocketOptions; isStopped: boolean; position: string | undefined }[] = []
  const requests: string[] = []
  const feed = new LiveTradeFeed({
    request: (async (path: string) => {
      requests.push(path)
      return respond()
    }) as never, // callApi is generic in the body
    openSocket(options) {
      const socket = { options, isStopped: false, position: options.after }
      sockets.push(socket)
      return {
        stop: () => {
          socket.isStopped = true
        },
        position: () => socket.position,
      }
    },
    url: () => 'ws://here/ws',
  })
  const receive = (...ids: number[]) => {
    const socket = sockets.at(-1)
    for (const id of ids) {
      if (socket === undefined || socket.isStopped) return
      socket.position = `p${id}`
      socket.options.onMessage({ channel: 'trades', id: `p${id}`, data: aTrade(id) } as never)
    }
  }
  return { feed, sockets, requests, receive }
}

function history(): ApiResult<unknown> {
  return {
    kind: 'ok',
    body: { items: [aTrade(10)], has_more: true, next_cursor: 'older' },
    headers: new Headers({ 'x-head-cursor': 'p10' }),
  }
}

const times = (feed: LiveTradeFeed) =>
  feed.state.get().list.trades.map(({ trade }) => trade.block_time)

test('the feed lists history, then opens the socket from its head, and counts the credits', async (t) => {
  const { feed, sockets, requests, receive } = startFeed()
  await feed.start('tw_key', NO_FILTER, 100)
  t.deepEqual([requests, sockets[0]?.options.after], [['/trades?limit=100'], 'p10'])
  receive(11, 12)
  feed.flush()
  t.deepEqual(times(feed), [12, 11, 10])
  t.deepEqual(feed.state.get().spent, { history: 3, messages: 2 })
  await feed.loadOlder()
  t.is(requests[1], '/trades?limit=100&cursor=older')
  t.is(feed.state.get().spent.history, 6)
})

test('the credit of a withdrawn live trade is not counted as spent', async (t) => {
  const { feed, sockets } = startFeed()
  await feed.start('tw_key', NO_FILTER, 100)
  const send = (message: object) => sockets[0]?.options.onMessage(message as never)
  const names = (id: number) => ({ id: `p${id}`, trade_id: `t${id}`, data: aTrade(id) })
  send({ channel: 'trades', ...names(11) })
  send({ channel: 'trades', ...names(12) })
  send({ type: 'retracted', ...names(12) })
  send({ type: 'retracted', ...names(12) })
  send({ type: 'retracted', ...names(10) })
  feed.flush()
  t.deepEqual(feed.state.get().spent, { history: 3, messages: 1 })
  t.deepEqual(
    feed.state.get().list.trades.map(({ isWithdrawn }) => isWithdrawn),
    [true, false, true],
  )
})

test('the feed pauses when the budget is used, and resumes after the last trade or from now', async (t) => {
  const { feed, sockets, receive } = startFeed()
  await feed.start('tw_key', NO_FILTER, 5) // 3 of them for history
  receive(11, 12, 13)
  const { phase, canResume, notices } = feed.state.get()
  t.deepEqual([phase.kind, canResume, sockets[0]?.isStopped], ['paused', true, true])
  t.regex(notices[0]?.text ?? '', /^Paused: the budget of 5 credits is used up\./)
  t.deepEqual(times(feed), [12, 11, 10])
  feed.resume('tw_key', 'last_trade')
  t.is(sockets[1]?.options.after, 'p12')
  receive(13, 14, 15, 16, 17, 18)
  t.deepEqual(times(feed).slice(0, 2), [17, 16])
  feed.resume('tw_key', 'now')
  t.is(sockets[2]?.options.after, undefined)
})

test('history that cannot be loaded leaves the feed unstarted, with the failure', async (t) => {
  const { feed, sockets } = startFeed(async () => ({ kind: 'unreachable' }))
  await feed.start('tw_key', NO_FILTER, 100)
  const { phase, failure, isLoading, spent } = feed.state.get()
  t.deepEqual(
    [phase.kind, failure, isLoading, spent.history, sockets.length],
    ['idle', { kind: 'unreachable' }, false, 0, 0],
  )
  feed.reset()
  t.is(feed.state.get().failure, null)
})

test('a feed that is paused or closed while its history loads opens no socket', async (t) => {
  for (const stop of ['pause', 'close'] as const) {
    const { feed, sockets } = startFeed()
    const starting = feed.start('tw_key', NO_FILTER, 100)
    feed[stop]()
    await starting
    t.is(sockets.length, 0, stop)
    t.is(feed.state.get().isLoading, false, stop)
  }
})

test('a final notice of the socket stops the feed at its position', async (t) => {
  const { feed, sockets, receive } = startFeed()
  await feed.start('tw_key', NO_FILTER, 100)
  receive(11)
  const notice = { tone: 'bad', text: 'Your credits are used up.' } as const
  sockets[0]?.options.onState({ kind: 'ended', notice })
  const { phase, notices, canResume } = feed.state.get()
  t.deepEqual([phase.kind, notices, canResume], ['ended', [notice], true])
})
