import { once } from 'node:events'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import test from 'ava'
import { WebSocketServer } from 'ws'
import { createMemoryLog } from '../../pipeline/log/memory.ts'
import { createLogger } from '../../pipeline/runtime/logger.ts'
import { createRegistry } from '../../pipeline/runtime/telemetry.ts'
import { aMarker } from '../../pipeline/testing/a-marker.ts'
import { tradeItem } from '../items/trade.ts'
import { aSwap, BONK, JUP, served } from '../testing/a-swap.ts'
import { newWallet } from '../testing/a-wallet.ts'
import { startForwarder } from '../testing/forwarder.ts'
import { openEmbeddedStore } from '../testing/open-stores.ts'
import { aSwapRow, insertWallets } from '../testing/rows.ts'
import { startApi } from '../testing/start-api.ts'
import { fund, startFeed } from '../testing/start-feed.ts'
import { memoryViews } from '../testing/view-source.ts'
import {
  type AnsweredCall,
  type FeedEnded,
  type Followed,
  logIn,
  type Refused,
  TrackedWallets,
} from './client.ts'

test('the client yields each trade once, in order, over lost connections and a restart of the service', async (t) => {
  const logger = createLogger('silent')
  const log = createMemoryLog({ logger, registry: createRegistry() }, { epoch: 0 })
  const balancer = await startForwarder()
  const start = async () => {
    const service = await startFeed({ log, keepLog: true })
    await fund(service.meter, 'alice', 10_000)
    balancer.lead(service.port)
    return service
  }
  let service = await start()
  const swaps = Array.from({ length: 60 }, (_, n) => aSwap({ slot: 10 + n, blockTime: n }))
  const append = (from: number, to: number) =>
    Promise.all(
      swaps
        .slice(from, to)
        .map((swap) => log.appendSlot({ marker: aMarker(swap.slot), records: [swap] })),
    )
  const client = new TrackedWallets({ url: `http://127.0.0.1:${balancer.port}`, apiKey: 'alice' })
  const stopping = new AbortController()
  const notices: string[] = []
  let connected = () => {}
  const isConnected = new Promise<void>((resolve) => {
    connected = resolve
  })
  const feed = client.follow({
    signal: stopping.signal,
    retryMs: 1,
    onNotice: ({ type }) => {
      notices.push(type)
      if (type === 'connected') connected()
    },
  })
  const got: Followed[] = []
  const take = async (count: number) => {
    while (got.length < count) {
      const { value } = await feed.next()
      if (value) got.push(value)
    }
  }
  const first = take(20)
  await isConnected
  await append(0, 20)
  await first
  balancer.cut()
  await append(20, 40)
  await take(40)
  await service.close()
  service = await start()
  await append(40, 60)
  await take(60)
  t.deepEqual(
    got.map((one) => (one.kind === 'trade' ? one.trade : one)),
    swaps.map((swap) => tradeItem(served(swap))),
  )
  t.true(notices.filter((type) => type === 'connected').length >= 3)

  stopping.abort()
  t.deepEqual(await feed.next(), { value: undefined, done: true })

  // The next day, from the last trade handled.
  const position = got[49]
  const later = client.follow({ after: position?.kind === 'trade' ? position.id : '' })
  const { value } = await later.next()
  t.deepEqual(value, got[50])
  await later.return()
  await service.close()
  await log.close()
  balancer.close()
})

test('the client yields a snapshot, then each change of watchlist and signals once, over lost connections and another process', async (t) => {
  const views = memoryViews()
  const listed = (mint: string, event: 'entered' | 'changed' | 'left' | 'fired') => ({
    mint,
    event,
  })
  views.tick(10, [listed(BONK, 'entered'), listed(BONK, 'fired')])
  const over = new Set<string>()
  const start = () =>
    startFeed({ views: views.source, viewer: (wallet) => (over.has(wallet) ? OVER : {}) })
  const balancer = await startForwarder()
  let service = await start()
  balancer.lead(service.port)
  const client = new TrackedWallets({ url: `http://127.0.0.1:${balancer.port}`, apiKey: '' })
  const feed = client.followViews({ token: 'dashboard:alice', retryMs: 1 })
  const take = async (count: number) => {
    const got: unknown[] = []
    while (got.length < count) {
      const { value } = await feed.next()
      if (value === undefined) return got
      const { kind } = value
      if (kind === 'listed') got.push([value.event, value.item.mint, value.item.age_seconds])
      else if (kind === 'left') got.push([kind, value.mint])
      else if (kind === 'signal') got.push([kind, value.isNew, value.signal.mint])
      else got.push(kind)
    }
    return got
  }
  // The connection is lost within the snapshot.
  t.deepEqual(await take(1), [['snapshot', BONK, 10]])
  balancer.cut()
  t.deepEqual(await take(2), [['signal', false, BONK], 'snapshot_complete'])
  balancer.cut()
  views.tick(20, [listed(JUP, 'entered'), listed(BONK, 'changed')])
  await service.close()
  views.tick(30, [listed(BONK, 'left'), listed(JUP, 'fired')])
  service = await start()
  balancer.lead(service.port)
  t.deepEqual(await take(4), [
    ['entered', JUP, 20],
    ['changed', BONK, 20],
    ['left', BONK],
    ['signal', true, JUP],
  ])
  over.add('alice')
  balancer.cut()
  t.is((await t.throwsAsync<FeedEnded>(feed.next()))?.code, 'token_expired')
  await service.close()
  balancer.close()
})

const OVER = { expiresAt: 0 }

test('an end that a reconnect would not change throws `FeedEnded` with its code', async (t) => {
  const service = await startFeed()
  await fund(service.meter, 'alice', 1)
  const url = `http://127.0.0.1:${service.port}`
  const client = new TrackedWallets({ url, apiKey: 'alice' })
  const unknown = client.follow({ wallets: ['W999'] })
  t.is((await t.throwsAsync<FeedEnded>(unknown.next()))?.code, 'wallet_not_found')
  let connected = () => {}
  const isConnected = new Promise<void>((resolve) => {
    connected = resolve
  })
  const feed = client.follow({ onNotice: () => connected() })
  const first = feed.next()
  await isConnected
  const two = [aSwap({ slot: 1 }), aSwap({ slot: 1, txIndex: 1 })]
  await service.log.appendSlot({ marker: aMarker(1), records: two })
  t.is((await first).value?.kind, 'trade')
  t.is((await t.throwsAsync<FeedEnded>(feed.next()))?.code, 'balance_exhausted')
  await service.close()
})

// The embedded engine opens one store in a process.
test.serial('REST responses are typed, and an error response rejects with its code', async (t) => {
  const opened = await openEmbeddedStore()
  const api = await startApi(opened.store)
  const { key } = await api.customer(10)
  const client = new TrackedWallets({ url: api.url, apiKey: key })
  const { items, has_more, head } = await client.trades({ limit: 5 })
  t.deepEqual([items, has_more], [[], false])
  t.regex(head, /^[\w-]{50,}$/)
  t.is((await client.wallets()).page, 1)
  t.deepEqual((await client.tokenSwaps(aSwap().baseMint)).items, [])
  t.is((await client.status()).storage.slot, null)
  const refused = await t.throwsAsync<Refused>(client.walletMetrics('W9'))
  t.deepEqual([refused?.status, refused?.code, refused?.errors], [404, 'wallet_not_found', []])
  const faulty = await t.throwsAsync<Refused>(client.trades({ limit: 0, from: 1 }))
  t.deepEqual(
    [faulty?.code, faulty?.message, faulty?.errors],
    [
      'invalid_parameter',
      'The value of a parameter is not allowed. limit: expected an integer from 1 to 100; from: expected unix seconds (not milliseconds) from 1577836800 to 4102444799',
      [
        { in: 'query', name: 'limit', message: 'expected an integer from 1 to 100' },
        {
          in: 'query',
          name: 'from',
          message: 'expected unix seconds (not milliseconds) from 1577836800 to 4102444799',
        },
      ],
    ],
  )
  t.throws(() => new TrackedWallets({ url: 'example.com', apiKey: key }), { instanceOf: TypeError })
  const wrong = new TrackedWallets({ url: api.url, apiKey: 'tw_no' })
  t.is((await t.throwsAsync<Refused>(wrong.wallets()))?.code, 'unauthorized')
  t.is((await t.throwsAsync<FeedEnded>(wrong.follow().next()))?.code, 'unauthorized')
  await api.close()
  await opened.remove()
})

test.serial(
  'lists are read over all their pages, each answer tells its cost, and a wallet logs in',
  async (t) => {
    const opened = await openEmbeddedStore()
    await insertWallets(opened.store, 60)
    const rows = Array.from({ length: 230 }, (_, n) => aSwapRow(10 + n, { wallet: 1 + (n % 2) }))
    await opened.store.insert('swaps', rows)
    const api = await startApi(opened.store)
    await api.writer.moveTo(1000)
    const { key } = await api.customer(1000)
    const answers: AnsweredCall[] = []
    const onAnswer = (answer: AnsweredCall) => void answers.push(answer)
    const client = new TrackedWallets({ url: api.url, apiKey: key, onAnswer })
    const timesOf = async (trades: AsyncIterable<{ readonly block_time: number }>) => {
      const times: number[] = []
      for await (const { block_time } of trades) times.push(block_time - 1_700_000_000)
      return times
    }
    const all = rows.map((row) => Number(row.slot)).reverse()
    t.deepEqual(await timesOf(client.eachTrade()), all)
    t.deepEqual(
      answers.map(({ cost, remaining }) => [cost, remaining]),
      [
        [3, 997],
        [3, 994],
        [3, 991],
      ],
    )
    t.deepEqual(
      {
        wallet: await timesOf(client.eachWalletTrade('W2')),
        filtered: await timesOf(client.eachTrade({ limit: 7, wallet: 'W1', from: 1_700_000_100 })),
        token: await timesOf(client.eachTokenSwap(aSwap().baseMint)),
      },
      {
        wallet: all.filter((slot) => slot % 2 === 1),
        filtered: all.filter((slot) => slot % 2 === 0 && slot >= 100),
        token: all,
      },
    )
    const aliases: string[] = []
    for await (const { identity } of client.eachWallet()) aliases.push(identity.wallet)
    t.deepEqual(
      aliases,
      Array.from({ length: 60 }, (_, n) => `W${n + 1}`),
    )
    const left = answers.at(-1)?.remaining
    t.is((await client.account()).balance_credits, left ?? -1)
    t.is((await client.solPrice()).price_usd, null)
    t.is((await client.search('w60')).items[0]?.wallet, 'W60')
    t.is((await client.token(aSwap().baseMint)).last_24h.wallets, 2)
    const positions: (string | null)[] = []
    for await (const position of client.eachWalletPosition('W1', { mode: 'strict' }))
      positions.push(position.status, position.amount)
    t.deepEqual(positions, ['open', '575']) // 115 buys of 5
    const profit = await client.walletPnl('W2', { interval: '1h', from: 1_700_000_999 })
    t.deepEqual(
      profit.items.map(({ time, open_cost_sol }) => [time, open_cost_sol]),
      [[1_700_001_000, 57.5]],
    )
    const wallet = newWallet()
    const token = await logIn({
      url: api.url,
      wallet: wallet.address,
      signMessage: wallet.signBytes,
    })
    const { status } = await fetch(`${api.url}/me/api`, {
      headers: { authorization: `Bearer ${token}` },
    })
    t.is(status, 200)
    const wrong = { url: api.url, wallet: wallet.address, signMessage: newWallet().signBytes }
    t.is((await t.throwsAsync<Refused>(logIn(wrong)))?.code, 'invalid_signature')
    await api.close()
    await opened.remove()
  },
)

test('a call is repeated when the service cannot be reached, answers too late or with 503, and not after another refusal', async (t) => {
  type Reply = 'cut' | 'silent' | 'half' | number
  let replies: Reply[] = []
  let asked = 0
  const server = createServer((request, response) => {
    asked += 1
    const reply = replies.shift() ?? 200
    if (reply === 'cut') request.socket.destroy()
    else if (reply === 'half')
      response.writeHead(200, { 'content-length': '100' }).write('{', () => response.destroy())
    else if (reply !== 'silent') {
      response.writeHead(reply, reply === 503 ? { 'retry-after': '0' } : {})
      response.end(reply === 200 ? '{"price_usd":7}' : `{"code":"code of ${reply}"}`)
    }
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  const { port } = server.address() as AddressInfo // listening on TCP
  const options = { url: `http://127.0.0.1:${port}/`, apiKey: 'tw_any', retries: 4, retryMs: 1 }
  const client = new TrackedWallets({ ...options, timeoutMs: 200 })
  const outcome = async (...given: Reply[]) => {
    replies = given
    asked = 0
    const answer = await client
      .solPrice()
      .then(({ price_usd }) => price_usd)
      .catch((error: Error) => ('code' in error ? error.code : error.name))
    return [answer, asked]
  }
  t.deepEqual(
    {
      repeated: await outcome('cut', 503, 'silent', 'half', 200),
      slow: await outcome(408, 200),
      unavailable: await outcome(503, 503, 503, 503, 503, 200),
      unreachable: await outcome('cut', 'cut', 'cut', 'cut', 'cut', 200),
      refused: await outcome(404, 200),
      failed: await outcome(500, 200),
    },
    {
      repeated: [7, 5],
      slow: [7, 2],
      unavailable: ['code of 503', 5],
      unreachable: ['TypeError', 5],
      refused: ['code of 404', 1],
      failed: ['code of 500', 1],
    },
  )
  server.closeAllConnections()
  server.close()
})

const A_TRADE = { channel: 'trades', data: tradeItem(served(aSwap({ slot: 10 }))) }

/** A client of a server that answers each message as the test says. */
async function feedByHand(
  onMessage: (
    message: { readonly action: string; readonly after?: string },
    socket: { send(message: object): void; close(code: number): void },
  ) => void,
): Promise<{ readonly client: TrackedWallets; readonly server: WebSocketServer }> {
  const server = new WebSocketServer({ host: '127.0.0.1', port: 0 })
  await once(server, 'listening')
  server.on('connection', (socket) => {
    const send = (message: object) => socket.send(JSON.stringify(message))
    const close = (code: number) => socket.close(code)
    socket.on('message', (data: Buffer) => onMessage(JSON.parse(data.toString()), { send, close }))
  })
  const { port } = server.address() as AddressInfo // listening on TCP
  const client = new TrackedWallets({ url: `http://127.0.0.1:${port}`, apiKey: 'alice' })
  return { client, server }
}

test('a silent service is asked, then its connection is given up, and the next one resumes', async (t) => {
  const told: unknown[] = []
  const { client, server } = await feedByHand(({ action, after }, { send }) => {
    told.push(action === 'ping' ? action : (after ?? action))
    if (action === 'subscribe') send({ ...A_TRADE, id: `id ${told.length}` })
  })
  const feed = client.follow({ retryMs: 1, silenceMs: 300 })
  await feed.next()
  const { value } = await feed.next()
  t.is(value?.kind === 'trade' && value.id, `id ${told.length}`)
  t.deepEqual(
    [told[0], [...new Set(told.slice(1, -1))], told.at(-1)],
    ['subscribe', ['ping'], 'id 1'],
  )
  await feed.return()
  server.close()
})

test('after a connection is closed for too many messages the next one resumes (rule F7)', async (t) => {
  const asked: unknown[] = []
  const { client, server } = await feedByHand(({ after }, { send, close }) => {
    asked.push(after)
    send({ ...A_TRADE, id: `id ${asked.length}` })
    send({ type: 'error', code: 'rate_limited', message: '...' })
    close(1008)
  })
  const ids: unknown[] = []
  for await (const one of client.follow({ retryMs: 1 })) {
    if (one.kind === 'trade') ids.push(one.id)
    if (ids.length === 2) break
  }
  t.deepEqual(
    [ids, asked],
    [
      ['id 1', 'id 2'],
      [undefined, 'id 1'],
    ],
  )
  server.close()
})
