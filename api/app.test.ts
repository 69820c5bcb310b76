import { once } from 'node:events'
import { createConnection } from 'node:net'
import test from 'ava'
import { USDC } from '../pipeline/domain/quote.ts'
import { ServiceError } from '../pipeline/domain/service-error.ts'
import type { Row, Store } from '../pipeline/store/store.ts'
import { createCursorCodec } from './cursor.ts'
import { type TradeItem, TradeItem as TradeSchema } from './items/trade.ts'
import { WalletMetricsItem } from './items/wallet-metrics.ts'
import { ask, creditsOf } from './testing/ask.ts'
import { cursorKeys } from './testing/cursor-keys.ts'
import { openStore, type TestStore } from './testing/open-stores.ts'
import { aSwapRow, insertWallets, MINT, markStored } from './testing/rows.ts'
import { startApi, type TestApi } from './testing/start-api.ts'

const codec = createCursorCodec(cursorKeys(7))
/** Set to make the next queries of the store fail, as if its server were down. */
let storeIsAway = false
let opened: TestStore
let store: Store
let api: TestApi

test.before(async () => {
  opened = await openStore()
  store = opened.store
  const flaky: Store = {
    ...store,
    async query(...args) {
      if (storeIsAway) throw new ServiceError('unavailable', 'away', { retriable: true })
      return store.query(...args)
    },
  }
  await insertWallets(store, 27)
  await markStored(store, 99)
  api = await startApi(flaky)
})
test.after.always(async () => {
  await api.close()
  await opened.remove()
})

const get = (path: string, key?: string, init?: RequestInit) => ask(api, path, key, init)

const storedWallet: Row = {
  wallet: 2,
  status: 'scored',
  score_e2: 6725,
  sol_balance_lamports: '12000000001',
  pnl_lamports: '-1',
  bought_lamports: '10000000000',
  sold_lamports: '340282366920938463463374607431768',
  invested_open_lamports: '333333333',
  unrealized_token_count: '2',
  buys: '3',
  sells: '1',
  transfers_in: '4',
  transfers_out: '5',
  received_lamports: '7',
  sent_lamports: '9007199254740993',
  unique_tokens_traded: '6',
  tokens_won: '1',
  tokens_lost: '2',
  tokens_sold_valued: '3',
  holding_seconds_sum: '10',
  holding_matches: '3',
  exit_seconds_sum: '0',
  exit_tokens: '0',
  quick_sells: '1',
  sold_more_than_bought: '2',
  active_times: [
    { hour_utc: 13, tx_count: '7' },
    { hour_utc: 2, tx_count: '3' },
  ],
  events: '1',
  slot: '90',
  tx_index: 0,
  event_index: 0,
  computed_at: 1_700_000_090,
  version: '2',
}

test.serial(
  'a wallet shows its metrics, each figure the double nearest to the exact one (contract 2.5, rule C20)',
  async (t) => {
    await api.writer.insert('wallet_metrics', [{ ...storedWallet, version: '1', buys: '99' }])
    await api.writer.insert('wallet_metrics', [storedWallet])
    await api.writer.moveTo(99)
    const { key } = await api.customer(10)
    const answer = await get('/wallets/W2/metrics', key)
    t.is(answer.status, 200)
    t.deepEqual(answer.body as unknown, {
      identity: { wallet: 'W2', tracked: true, score: 67.25, status: 'scored' },
      pnl: {
        sol_balance: 12.000000001,
        pnl_sol: -1e-9,
        sol_bought: 10,
        sol_sold: 3.402823669209385e23,
        sol_invested_open: 0.333333333,
        unrealized_token_count: 2,
      },
      activity: {
        total_trades: 4,
        buys: 3,
        sells: 1,
        transfers_in: 4,
        transfers_out: 5,
        sol_received: 7e-9,
        sol_sent: 9007199.254740993,
        unique_tokens_traded: 6,
      },
      behavior: {
        winrate: 100 / 3,
        loserate: 200 / 3,
        avg_holding_time: 10 / 3,
        avg_time_to_almost_full_exit: null,
        avg_buy_amount: 10 / 3,
        avg_sell_amount: 3.402823669209385e23,
        quick_sells: 1,
        sold_more_than_bought: 2,
        active_times: [
          { hour_utc: 13, tx_count: 7 },
          { hour_utc: 2, tx_count: 3 },
        ],
      },
      computed_at: 1_700_000_090,
    })
    t.deepEqual(creditsOf(answer), ['1', '9'])
  },
)

test.serial(
  'wallets are listed W1 to Wn, including those without events (contract 4.2, rule C21)',
  async (t) => {
    const { key } = await api.customer(10)
    const first = await get('/wallets', key)
    const { items, ...rest } = first.body
    t.deepEqual(rest, { page: 1, page_size: 25, total: 27, has_more: true } as never)
    t.deepEqual(
      items.map((item) => WalletMetricsItem.parse(item).identity.wallet),
      Array.from({ length: 25 }, (_, index) => `W${index + 1}`),
    )
    t.deepEqual(items[0], {
      identity: { wallet: 'W1', tracked: true, score: null, status: 'review' },
      pnl: {
        sol_balance: null,
        pnl_sol: 0,
        sol_bought: 0,
        sol_sold: 0,
        sol_invested_open: 0,
        unrealized_token_count: 0,
      },
      activity: {
        total_trades: 0,
        buys: 0,
        sells: 0,
        transfers_in: 0,
        transfers_out: 0,
        sol_received: 0,
        sol_sent: 0,
        unique_tokens_traded: 0,
      },
      behavior: {
        winrate: null,
        loserate: null,
        avg_holding_time: null,
        avg_time_to_almost_full_exit: null,
        avg_buy_amount: null,
        avg_sell_amount: null,
        quick_sells: 0,
        sold_more_than_bought: 0,
        active_times: [],
      },
      computed_at: 0,
    })
    t.is(WalletMetricsItem.parse(items[1]).identity.score, 67.25)
    const second = await get('/wallets?page=2', key)
    t.deepEqual(
      second.body.items.map((item) => WalletMetricsItem.parse(item).identity.wallet),
      ['W26', 'W27'],
    )
    t.is(second.body.has_more, false)
    const beyond = await get('/wallets?page=10000', key)
    t.deepEqual(beyond.body as unknown, {
      page: 10000,
      page_size: 25,
      total: 27,
      has_more: false,
      items: [],
    })
  },
)

test.serial(
  'trades are listed newest first, none beyond the storage marker (contract 4.3)',
  async (t) => {
    const { key } = await api.customer(100)
    const empty = await get('/trades', key)
    t.deepEqual(empty.body as unknown, {
      count: 0,
      limit: 25,
      has_more: false,
      next_cursor: null,
      items: [],
    })
    t.deepEqual(codec.decode('trades', empty.headers.get('x-head-cursor') ?? ''), {
      slot: 0,
      txIndex: 0,
      wallet: 0,
      eventIndex: 0,
    })
    await api.writer.insert('swaps', [
      aSwapRow(98),
      aSwapRow(99, {
        wallet: 2,
        side: 'sell',
        quote_mint: USDC,
        quote_amount: '1500000',
        program: 'jupiter',
      }),
      aSwapRow(99, {
        wallet: 2,
        event_index: 1,
        quote_mint: null,
        quote_amount: '0',
        quote_mismatch: true,
        value_lamports: null,
      }),
      aSwapRow(99, {
        wallet: 2,
        event_index: 2,
        base_amount: '340282366920938463463374607431768211455',
      }),
      aSwapRow(101, { wallet: 3 }),
    ])
    // The same swap again, a newer version of another one, and a deleted one.
    await api.writer.insert('swaps', [aSwapRow(98)])
    await api.writer.insert('swaps', [
      aSwapRow(99, {
        wallet: 2,
        side: 'sell',
        quote_mint: USDC,
        quote_amount: '1500001',
        value_lamports: '10000000',
        program: 'jupiter',
        version: 1,
      }),
    ])
    await api.writer.insert('swaps', [aSwapRow(97, { wallet: 4 }), aSwapRow(97, { wallet: 5 })])
    await api.writer.insert('swaps', [aSwapRow(97, { wallet: 4, version: 1, is_deleted: 1 })])
    await api.writer.moveTo(100)
    const answer = await get('/trades', key)
    const base = { block_time: 1_700_000_099, wallet: 'W2', mint: MINT, decimals: 6, symbol: null }
    const half = { sol_value: 0.5, price_sol: 100_000 }
    t.deepEqual(answer.body.items, [
      {
        ...base,
        sol_value: 0.5,
        price_sol: 0.5e6 / (2 ** 128 - 1),
        side: 'buy',
        token_amount: '340282366920938463463374607431768211455',
        sol_amount: 0.5,
        quote_mint: 'So11111111111111111111111111111111111111112',
        quote_amount: '500000000',
        program: 'pumpswap',
      },
      {
        ...base,
        sol_value: null,
        price_sol: null,
        side: 'buy',
        token_amount: '5',
        sol_amount: 0,
        quote_mint: null,
        quote_amount: '0',
        program: 'pumpswap',
      },
      {
        ...base,
        sol_value: 0.01,
        price_sol: 2000,
        side: 'sell',
        token_amount: '5',
        sol_amount: 0,
        quote_mint: USDC,
        quote_amount: '1500001',
        program: 'jupiter',
      },
      {
        ...base,
        ...half,
        block_time: 1_700_000_098,
        wallet: 'W1',
        side: 'buy',
        token_amount: '5',
        sol_amount: 0.5,
        quote_mint: 'So11111111111111111111111111111111111111112',
        quote_amount: '500000000',
        program: 'pumpswap',
      },
      {
        ...base,
        ...half,
        block_time: 1_700_000_097,
        wallet: 'W5',
        side: 'buy',
        token_amount: '5',
        sol_amount: 0.5,
        quote_mint: 'So11111111111111111111111111111111111111112',
        quote_amount: '500000000',
        program: 'pumpswap',
      },
    ])
    t.true(answer.body.items.every((item) => TradeSchema.safeParse(item).success))
    t.deepEqual(
      [answer.body.count, answer.body.limit, answer.body.has_more, answer.body.next_cursor],
      [5, 25, false, null as never],
    )
    t.deepEqual(codec.decode('trades', answer.headers.get('x-head-cursor') ?? ''), {
      slot: 99,
      txIndex: 0,
      wallet: 2,
      eventIndex: 2,
    })
    t.deepEqual(creditsOf(answer), ['3', '94'])
    const page = await get('/trades?limit=2', key)
    t.deepEqual(page.body.items, answer.body.items.slice(0, 2))
    const next = await get(`/trades?limit=3&cursor=${page.body.next_cursor}`, key)
    t.deepEqual(next.body.items, answer.body.items.slice(2))
    t.is(next.body.next_cursor, null as never)
    t.is(next.headers.get('x-head-cursor'), answer.headers.get('x-head-cursor'))
  },
)

test.serial('paging during inserts skips and repeats nothing (contract 4.3)', async (t) => {
  const { key } = await api.customer(10_000)
  const mint = 'EPjFWdd5AufqSSqeM2qN1xzybapC8G4wEGGkZwyTDt1v'
  const slots = Array.from({ length: 120 }, (_, index) => 1000 + index)
  await api.writer.insert(
    'swaps',
    slots.flatMap((slot) => [
      aSwapRow(slot, { base_mint: mint }),
      aSwapRow(slot, { wallet: 3, base_mint: mint }),
    ]),
  )
  await api.writer.moveTo(1119)
  let walking = true
  const inserting = (async () => {
    for (let slot = 1120; walking; slot++) {
      // At the head, and the same rows again. Neither changes older pages.
      await api.writer.insert('swaps', [
        aSwapRow(slot, { base_mint: mint }),
        aSwapRow(1000 + (slot % 120), { base_mint: mint }),
      ])
      await api.writer.moveTo(slot)
    }
  })()
  const seen: TradeItem[] = []
  let cursor = ''
  do {
    const { body } = await get(`/trades?limit=7${cursor && `&cursor=${cursor}`}`, key)
    seen.push(...(body.items as unknown as TradeItem[]))
    cursor = body.next_cursor
  } while (cursor !== null)
  walking = false
  await inserting
  const old = seen.filter((item) => item.mint === mint && item.block_time < 1_700_001_120)
  t.deepEqual(
    old.map((item) => [item.block_time - 1_700_000_000, item.wallet]),
    slots
      .flatMap((slot) => [
        [slot, 'W1'],
        [slot, 'W3'],
      ])
      .reverse(),
  )
  t.is(
    new Set(
      seen.map((item) => `${item.block_time} ${item.wallet} ${item.side} ${item.quote_amount}`),
    ).size,
    seen.length,
  )
})

test.serial(
  'a cursor of an older secret key still pages, and none of a removed key (rule J14)',
  async (t) => {
    const servers = await Promise.all(
      [cursorKeys(7), cursorKeys(8, 7), cursorKeys(8)].map((config) => startApi(store, { config })),
    )
    const pages = await Promise.all(
      servers.map(async (server) => {
        const { key } = await server.customer(1000)
        return (path: string) => ask(server, path, key)
      }),
    )
    const cursors: string[] = []
    const nexts: unknown[] = []
    for (const page of pages) {
      const { body } = await page('/trades?limit=2')
      cursors.push(body.next_cursor)
      nexts.push((await page(`/trades?limit=2&cursor=${body.next_cursor}`)).body.items)
    }
    t.deepEqual(nexts, Array(3).fill(nexts[0]))
    t.is(cursors[1], cursors[2])
    const [ofOld, ofCurrent] = cursors
    const outcomes = pages.map((page) =>
      Promise.all(
        [ofOld, ofCurrent].map(async (cursor) => {
          const { body } = await page(`/trades?limit=2&cursor=${cursor}`)
          return body.code ?? body.items
        }),
      ),
    )
    t.deepEqual(await Promise.all(outcomes), [
      [nexts[0], 'invalid_cursor'],
      [nexts[0], nexts[0]],
      ['invalid_cursor', nexts[0]],
    ])
    for (const server of servers) await server.close()
  },
)

test.serial('a refusal says what would help', async (t) => {
  const { key } = await api.customer(100)
  const { key: poor } = await api.customer(2)
  const { key: empty } = await api.customer(0)
  const post = (type: string, body: string) =>
    ({ method: 'POST', headers: { 'content-type': type }, body }) as const
  const cases: [string, string | undefined, string, RequestInit?][] = [
    [
      '/trades',
      poor,
      'This call costs 3 credits, and 2 are left. Buy credits on /dashboard, or as GET /billing/plans says.',
    ],
    [
      '/wallets',
      empty,
      'This call costs 1 credit, and 0 are left. Buy credits on /dashboard, or as GET /billing/plans says.',
    ],
    [
      '/ws',
      empty,
      'A trade on the feed costs 1 credit, and 0 are left. Buy credits on /dashboard, or as GET /billing/plans says.',
    ],
    ['/wallets/W28/metrics', key, 'No tracked wallet has this alias. The aliases are W1 to W27.'],
    [
      '/trade',
      key,
      'This path does not exist. /docs/rest and /openapi.json list the paths that do.',
    ],
    [
      '/auth/nonce',
      undefined,
      'The request body is not JSON in UTF-8.',
      post('application/json', '{'),
    ],
    [
      '/auth/nonce',
      undefined,
      'The request body is too large: it has at most 16384 bytes.',
      post('application/json', 'x'.repeat(16_385)),
    ],
    [
      '/auth/nonce',
      undefined,
      'The request body must be JSON, with Content-Type: application/json and without compression.',
      post('text/plain', '{}'),
    ],
  ]
  for (const [path, bearer, title, init] of cases)
    t.is((await get(path, bearer, init)).body.title, title, path)
  t.deepEqual((await get('/prices/sol?at=1790000000000', key)).body.errors, [
    {
      in: 'query',
      name: 'at',
      message: 'expected unix seconds (not milliseconds) from 1577836800 to 4102444799',
    },
  ])
})

test.serial('refusals: status, code and fields, in the order of rules D1 and D2', async (t) => {
  const { key, wallet } = await api.customer(100)
  const { key: poor } = await api.customer(0)
  const foreign = codec.encode(`swaps:${MINT}`, { slot: 1, txIndex: 0, wallet: 1, eventIndex: 0 })
  const unknown = `tw_${'1'.repeat(32)}`
  const table: [string, string | undefined, number, string, RequestInit?][] = [
    ['//', undefined, 404, 'not_found'],
    ['/nothing', undefined, 404, 'not_found'],
    ['/wallets/', key, 404, 'not_found'],
    ['/Wallets', key, 404, 'not_found'],
    ['/wallets/W1', key, 404, 'not_found'],
    ['/trades', undefined, 405, 'method_not_allowed', { method: 'POST' }],
    ['/trades', undefined, 405, 'method_not_allowed', { method: 'DELETE' }],
    ['/trades', key, 405, 'method_not_allowed', { method: 'PUT', body: 'x'.repeat(20_000) }],
    ['/healthz', undefined, 405, 'method_not_allowed', { method: 'OPTIONS' }],
    ['/trades?limit=0', undefined, 401, 'unauthorized'],
    ['/trades', 'tw_short', 401, 'unauthorized'],
    ['/trades', unknown, 401, 'unauthorized'],
    ['/trades', `${key}x`, 401, 'unauthorized'],
    [`/trades?api_key=${key}`, undefined, 401, 'unauthorized'],
    ['/wallets', undefined, 401, 'unauthorized', { headers: { authorization: key } }],
    ['/wallets', undefined, 401, 'unauthorized', { headers: { authorization: `Basic ${key}` } }],
    ['/trades?limit=0', poor, 400, 'invalid_parameter'],
    ['/trades', poor, 402, 'insufficient_credits'],
    ['/wallets/W99/metrics', poor, 402, 'insufficient_credits'],
    ...[
      '0',
      '101',
      '-1',
      '+1',
      '1.0',
      '',
      ' 1',
      '1e1',
      '0x1',
      '99999999999',
      'ten',
      '%00',
      '１',
    ].map((limit): [string, string, number, string] => [
      `/trades?limit=${limit}`,
      key,
      400,
      'invalid_parameter',
    ]),
    ['/trades?limit=1&limit=1', key, 400, 'invalid_parameter'],
    ['/trades?limit=1&limit=2', key, 400, 'invalid_parameter'],
    ['/trades?cursor=', key, 400, 'invalid_cursor'],
    ['/trades?cursor=x', key, 400, 'invalid_cursor'],
    ['/trades?cursor=1&cursor=2', key, 400, 'invalid_cursor'],
    [`/trades?cursor=${foreign}`, key, 400, 'invalid_cursor'],
    ['/trades?cursor=x&limit=0', key, 400, 'invalid_parameter'],
    ...['0', '10001', '-1', ''].map((page): [string, string, number, string] => [
      `/wallets?page=${page}`,
      key,
      400,
      'invalid_parameter',
    ]),
    ...[
      'W0',
      'W28',
      'W01',
      'w1',
      'W',
      '1',
      'W1%20',
      '%57%31%00',
      'W-1',
      'W99999999999999999999',
      '..%2f..',
      '%ff',
    ].map((alias): [string, string, number, string] => [
      `/wallets/${alias}/metrics`,
      key,
      404,
      'wallet_not_found',
    ]),
    ['/ws', undefined, 401, 'unauthorized'],
    ['/ws', poor, 402, 'insufficient_credits'],
    ['/ws', key, 426, 'upgrade_required'],
  ]
  for (const [path, apiKey, status, code, init] of table) {
    const answer = await get(path, apiKey, init)
    const what = `${init?.method ?? 'GET'} ${path}`
    const { title, request_id, errors, ...rest } = answer.body
    t.deepEqual(rest as unknown, { type: 'about:blank', status, detail: code, code }, what)
    t.is(answer.status, status, what)
    t.is(answer.headers.get('content-type'), 'application/problem+json', what)
    t.is(answer.headers.get('x-request-id'), request_id as string, what)
    t.is(answer.headers.get('api-version'), '1', what)
    t.regex(String(title), /^[A-Z].*\.$/, what)
    t.is(errors !== undefined, status === 400, what)
    t.is(answer.headers.get('www-authenticate'), status === 401 ? 'Bearer' : null, what)
    t.is(
      answer.headers.get('allow'),
      status !== 405 ? null : path === '/healthz' ? 'HEAD, GET' : 'GET',
      what,
    )
    if (status === 404 && code === 'not_found') continue
    if (status === 405) continue
    t.deepEqual(
      creditsOf(answer),
      ['0', status === 401 ? null : apiKey === poor ? '0' : '100'],
      what,
    )
  }
  t.deepEqual((await get('/trades?limit=0', key)).body.errors, [
    { in: 'query', name: 'limit', message: 'expected an integer from 1 to 100' },
  ])
  t.is((await fetch(`${api.url}/wallets`, { method: 'HEAD' })).status, 405)
  t.is((await get('/wallets?unknown=1&page=1', key)).status, 200)
  t.is(await api.credits.left(wallet), 99)
  const large = await raw(
    `GET /trades HTTP/1.1\r\nhost: a\r\nauthorization: Bearer ${key}\r\ncontent-length: 16385\r\n\r\n`,
  )
  t.regex(large, /^HTTP\/1.1 413 .*"code":"payload_too_large"/s)
})

test.serial(
  'a 401 says which credential was sent and which is required, without repeating it',
  async (t) => {
    const { key, wallet } = await api.customer(10)
    const token = await api.token(wallet)
    const needed = {
      key: 'This path requires an API key: Authorization: Bearer tw_<...>.',
      token:
        'This path requires a dashboard token, from POST /auth/login: Authorization: Bearer <token>.',
      either:
        'This path requires an API key, or for the dashboard a token from POST /auth/login: Authorization: Bearer <...>.',
    }
    const badKey =
      'This API key is not valid: it was replaced or deleted, has expired, or is mistyped.'
    const badToken =
      'This dashboard token is not valid: it has expired, was revoked, or is mistyped. POST /auth/login issues a new one.'
    const neither = 'The credential is neither an API key nor a dashboard token.'
    const table: [string, string | undefined, string][] = [
      ['/trades', undefined, `The request has no credential. ${needed.key}`],
      ['/trades', token, `The credential is a dashboard token. ${needed.key}`],
      ['/trades', `${key}x`, badKey],
      ['/trades', 'null', `${neither} ${needed.key}`],
      ['/me/api', undefined, `The request has no credential. ${needed.token}`],
      // The response does not say whether the key is valid.
      ['/me/api', key, `The credential is an API key. ${needed.token}`],
      ['/me/api', 'tw_x', `The credential is an API key. ${needed.token}`],
      ['/me/usage', `${token.slice(0, -8)}AAAAAAAA`, badToken],
      ['/me/usage', 'a.b', `${neither} ${needed.token}`],
      ['/ws', undefined, `The request has no credential. ${needed.either}`],
      ['/ws', 'tw_x', badKey],
      ['/ws', 'a.b.c', badToken],
      ['/ws', 'null', `${neither} ${needed.either}`],
    ]
    for (const [path, credential, title] of table) {
      const { status, body } = await get(path, credential)
      t.deepEqual([status, body.code, body.detail], [401, 'unauthorized', 'unauthorized'], path)
      t.is(body.title as unknown, title, path)
    }
    const bare = `The API key came without the word Bearer before it. ${needed.key}`
    for (const headers of [
      { authorization: key },
      { authorization: `Token ${key}` },
      { 'x-api-key': key },
    ] as Record<string, string>[])
      t.is((await get('/trades', undefined, { headers })).body.title as unknown, bare)
  },
)

test.serial('a request with an upgrade is refused, or answered, like any other', async (t) => {
  const { key } = await api.customer(10)
  const ask = (path: string, more: string) =>
    raw(`GET ${path} HTTP/1.1\r\nhost: a\r\nconnection: upgrade\r\n${more}\r\n\r\n`)
  t.regex(await ask('/ws', 'upgrade: websocket'), /^HTTP\/1.1 401 .*"code":"unauthorized"/s)
  t.regex(await ask('/nothing', 'upgrade: websocket'), /^HTTP\/1.1 404 .*"code":"not_found"/s)
  t.regex(
    await ask('/ws', `upgrade: h2c\r\nauthorization: Bearer ${key}`),
    /^HTTP\/1.1 426 .*upgrade: websocket/is,
  )
  t.regex(
    await ask('/wallets', `upgrade: h2c\r\nauthorization: Bearer ${key}`),
    /^HTTP\/1.1 200 .*"page":1/s,
  )
})

test.serial(
  'concurrent calls never spend more than the balance, and only answers cost (rule D5)',
  async (t) => {
    const { key, wallet } = await api.customer(50)
    const answers = await Promise.all(
      Array.from({ length: 60 }, (_, n) =>
        get(
          n % 3 === 0
            ? '/wallets/W1/metrics'
            : n % 3 === 1
              ? '/trades?limit=1'
              : '/wallets/W28/metrics',
          key,
        ),
      ),
    )
    const paid = answers.reduce((sum, { status, headers }) => {
      t.true([200, 402, 404].includes(status))
      t.is(headers.get('x-credits-cost') === '0', status !== 200)
      return sum + Number(headers.get('x-credits-cost'))
    }, 0)
    t.true(paid <= 50)
    t.is(await api.credits.left(wallet), 50 - paid)
    await api.ledger.rollUp()
    t.deepEqual((await api.ledger.check()).mismatches, [])
  },
)

test.serial('while the store or the meter is down, reads are 503 and cost nothing', async (t) => {
  const { key, wallet } = await api.customer(10)
  const path = `/tokens/${MINT}/swaps?limit=7` // nothing of it is cached
  t.is((await get('/trades', key)).status, 200)
  storeIsAway = true
  const away = await get(path, key)
  storeIsAway = false
  t.is(away.status, 503)
  t.like(away.body, { code: 'unavailable', status: 503 })
  t.deepEqual(creditsOf(away), ['0', '7'])
  t.is(away.headers.get('retry-after'), '1')
  t.is(await api.credits.left(wallet), 7)
  const { charge } = api.meter
  api.meter.charge = async () => {
    throw new ServiceError('unavailable', 'away', { retriable: true })
  }
  const unmetered = await get(path, key)
  api.meter.charge = charge
  t.is(unmetered.status, 503)
  t.is(await api.credits.left(wallet), 7)
})

test.serial('health, readiness and progress of the service are public (rule J4)', async (t) => {
  t.deepEqual((await get('/healthz')).body as unknown, { status: 'ok' })
  const ready = await get('/readyz')
  t.is(ready.status, 503)
  t.deepEqual(ready.body as unknown, { ready: false })
  const { body, headers } = await get('/status')
  t.like(body, {
    ingest: { slot: null, block_time: null },
    finalized: { slot: null },
    feed: { slot: null, connections: 0 },
    lag_seconds: null,
  })
  t.is(headers.get('x-credits-cost'), null)
})

/** Sends text, and returns what the server sends until it closes. */
async function raw(text: string): Promise<string> {
  const { hostname, port } = new URL(api.url)
  const socket = createConnection(Number(port), hostname)
  socket.write(text)
  let answer = ''
  socket.setEncoding('utf8').on('data', (chunk) => {
    answer += chunk
  })
  await once(socket, 'close')
  return answer
}
