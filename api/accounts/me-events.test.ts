import { randomBytes } from 'node:crypto'
import test from 'ava'
import bs58 from 'bs58'
import { ServiceError } from '../../pipeline/domain/service-error.ts'
import { createLogger } from '../../pipeline/runtime/logger.ts'
import { createRegistry } from '../../pipeline/runtime/telemetry.ts'
import type { Store } from '../../pipeline/store/store.ts'
import { newWallet, type TestWallet } from '../testing/a-wallet.ts'
import { ask } from '../testing/ask.ts'
import { openEmbeddedStore, type TestStore } from '../testing/open-stores.ts'
import { startApi, type TestApi } from '../testing/start-api.ts'
import { AccountEvents } from './account-events.ts'
import { EventCounts } from './event-counts.ts'
import { networkOf } from './network-of.ts'

/*
 * `GET /me/events` over HTTP: sign-ins, keys and failed attempts.
 */

const T = Math.floor(Date.now() / 3600_000) * 3600 - 36_000
const clock = { now: T * 1000 }
let opened: TestStore
let api: TestApi
let isAway = false

test.before(async () => {
  opened = await openEmbeddedStore()
  const store: Store = {
    ...opened.store,
    async insert(table, ...rest) {
      if (isAway && table === 'account_events')
        throw new ServiceError('unavailable', 'away', { retriable: true })
      return opened.store.insert(table, ...rest)
    },
  }
  api = await startApi(store, { now: () => clock.now, config: { trustedProxies: 1 } })
})
test.after.always(async () => {
  await api.close()
  await opened.remove()
})

/** Headers of a client at an address. */
const from = (address: string) => ({
  get: (path: string, bearer: string) =>
    ask(api, path, bearer, { headers: { 'x-forwarded-for': address } }),
  post: (path: string, bearer?: string, body?: object) =>
    ask(api, path, bearer, {
      method: 'POST',
      headers: { 'x-forwarded-for': address, 'content-type': 'application/json' },
      ...(body && { body: JSON.stringify(body) }),
    }),
  async signIn(wallet: TestWallet, signer: TestWallet = wallet) {
    const { message } = (await this.post('/auth/nonce', undefined, { wallet: wallet.address })).body
    const signature = signer.signText(String(message))
    const body = { wallet: wallet.address, message, signature }
    const answer = await this.post('/auth/login', undefined, body)
    return { status: answer.status, token: String(answer.body.token) }
  },
})
const home = from('192.0.2.17')
const away = from('2001:db8:1:2::3')
const stranger = newWallet()
const events = async (token: string, query = '') =>
  (await home.get(`/me/events${query}`, token)).body
/** Advances the clock by a second. */
const next = () => {
  clock.now += 1000
}

test.serial(
  'sign-ins, sign-outs, keys and failed attempts are listed, newest first, with the network they came from',
  async (t) => {
    const wallet = newWallet()
    const { token } = await home.signIn(wallet)
    next()
    const { api_key: first } = (await home.get('/me/api', token)).body
    next()
    const { api_key: second } = (await away.post('/me/api/rotate', token)).body
    next()
    for (let use = 0; use < 3; use++) t.is((await away.get('/wallets', String(first))).status, 401)
    t.is((await away.get('/ws', String(first))).status, 401)
    t.is((await home.get('/wallets', String(second))).status, 402)
    next()
    for (let attempt = 0; attempt < 2; attempt++)
      t.is((await away.signIn(wallet, stranger)).status, 401)
    next()
    await away.post('/auth/logout', (await away.signIn(wallet)).token)
    next()
    const other = await home.signIn(wallet)
    await home.post('/auth/logout-everywhere', other.token)
    next()
    const last = await home.signIn(wallet)

    const answer = await home.get('/me/events', last.token)
    t.deepEqual(
      [answer.status, answer.headers.get('cache-control'), answer.headers.get('x-credits-cost')],
      [200, 'no-store', null],
    )
    const [at, near, far] = [T, '192.0.2.0/24', '2001:db8:1::/48']
    const item = (kind: string, seconds: number, network: string, count = 1) => ({
      kind,
      at: at + seconds,
      network,
      count,
    })
    const { items, ...rest } = answer.body
    t.deepEqual(rest as object, { has_more: false, next_cursor: null })
    // Events of one moment have no defined order.
    const sorted = (list: readonly object[]) => list.map((one) => JSON.stringify(one)).sort()
    t.deepEqual(
      items.map((one) => one.at),
      [7, 6, 6, 5, 5, 4, 3, 2, 1, 0].map((seconds) => at + seconds),
    )
    t.deepEqual(
      sorted(items),
      sorted([
        ...[item('signed_in', 7, near), item('signed_out_everywhere', 6, near)],
        ...[item('signed_in', 6, near), item('signed_out', 5, far), item('signed_in', 5, far)],
        ...[item('sign_in_failed', 4, far, 2), item('key_refused', 3, far, 4)],
        ...[item('key_rotated', 2, far), item('key_created', 1, near), item('signed_in', 0, near)],
      ]),
    )
    // Another wallet sees none of it, and the store has no whole address.
    const theirs = await home.signIn(stranger)
    t.deepEqual(
      (await events(theirs.token)).items.map((one) => one.kind),
      ['signed_in'],
    )
    const rows = JSON.stringify(await opened.store.query('SELECT * FROM account_events'))
    for (const whole of ['192.0.2.17', '2001:db8:1:2', String(first), token])
      t.false(rows.includes(whole))
  },
)

test.serial('events are paged by cursor, and a cursor is valid for its wallet only', async (t) => {
  const wallet = newWallet()
  const tokens: string[] = []
  for (let time = 0; time < 5; time++) {
    tokens.push((await home.signIn(wallet)).token) // all in one millisecond
    if (time === 2) next()
  }
  const [token = ''] = tokens
  const whole = (await events(token)).items
  t.is(whole.length, 5)
  const pages: object[] = []
  let cursor: string | null = null
  for (let page = 0; page < 3; page++) {
    const query = cursor === null ? '' : `&cursor=${cursor}`
    const body = await events(token, `?limit=2${query}`)
    pages.push(...body.items)
    t.is(body.has_more, page < 2)
    cursor = body.next_cursor
  }
  t.is(cursor, null)
  t.deepEqual(pages, whole)

  const theirs = (await home.signIn(stranger)).token
  const { next_cursor } = await events(token, '?limit=1')
  const trades = (await home.get('/trades', (await api.customer(10)).key)).headers
  for (const bad of [next_cursor, trades.get('x-head-cursor'), 'x', ''])
    t.like(await events(theirs, `?cursor=${bad}`), {
      code: 'invalid_cursor',
      status: 400,
      errors: [
        { in: 'query', name: 'cursor', message: 'expected the next_cursor of a previous answer' },
      ],
    })
  for (const bad of ['limit=0', 'limit=101', 'limit=x', 'limit=1&limit=2'])
    t.is((await events(token, `?${bad}`)).code, 'invalid_parameter', bad)
})

test.serial(
  'a stranger causes at most 21 rows an hour, whatever the number of attempts and networks; none for a wallet without an account',
  async (t) => {
    const [wallet, nobody] = [newWallet(), newWallet()]
    const { token } = await home.signIn(wallet)
    await events(token) // creates the account
    const before = clock.now
    for (const hour of [0, 1]) {
      clock.now = before + hour * 3600_000
      for (let at = 0; at < 50; at++) {
        await from(`203.0.${at % 25}.9`).signIn(wallet, stranger)
        await from(`203.0.${at % 25}.9`).signIn(nobody, stranger)
      }
    }
    const { items } = await events(token, '?limit=100')
    const failed = items.filter(({ kind }) => kind === 'sign_in_failed')
    t.is(failed.length, 42)
    const counts = new Map(failed.map(({ network, count, at }) => [`${at} ${network}`, count]))
    t.deepEqual(
      [before, before + 3600_000].map((at) => [
        counts.get(`${at / 1000} 203.0.19.0/24`),
        counts.get(`${at / 1000} other`),
      ]),
      [
        [2, 10],
        [2, 10],
      ],
    )
    const rows = await opened.store.query<{ n: number }>(
      'SELECT toUInt32(count()) AS n FROM account_events WHERE wallet = {wallet:String}',
      { wallet: nobody.address },
    )
    t.deepEqual(rows, [{ n: 0 }])
    clock.now = before
  },
)

test.serial(
  'while the store accepts no events, sign-ins succeed; once it does, the events are listed',
  async (t) => {
    const wallet = newWallet()
    isAway = true
    const { status, token } = await home.signIn(wallet)
    t.is(status, 200)
    t.deepEqual((await events(token)).items, [])
    isAway = false
    t.deepEqual(
      (await events(token)).items.map(({ kind }) => kind),
      ['signed_in'],
    )
  },
)

test('events are stored when the process stops; with 10,000 waiting, the oldest are dropped and counted', async (t) => {
  const wallet = bs58.encode(randomBytes(32))
  let [dropped, inserts] = [0, 0]
  let isDown = true
  let at = T * 1000
  const open = () =>
    new AccountEvents({
      store: {
        ...opened.store,
        async insert(table, rows) {
          inserts++
          if (isDown) throw new Error('away')
          await opened.store.insert(table, rows)
        },
      },
      logger: createLogger('silent'),
      now: () => at++,
      onDropped: () => void dropped++,
    })
  const kept = open()
  kept.add(wallet, 'key_created', 'unknown')
  for (let n = 0; n < 10_000; n++) kept.add(wallet, 'signed_in', 'unknown')
  t.is(dropped, 1)
  await kept.stop()
  isDown = false
  await kept.stop()
  t.is(inserts, 2) // regardless of their number
  at = T * 1000 + 20_000
  const found = await open().list(wallet, null, 20_000)
  t.deepEqual([found.length, found.at(-1)?.kind], [10_000, 'signed_in'])
})

test('counts are bounded, rewrite their row as they grow, and are forgotten once their hour is over and stored', (t) => {
  let id = 0
  const counts = new EventCounts(3, () => ++id)
  const hour = 3600_000
  t.true(counts.count('a', 'key_refused', 'one', 5))
  t.true(counts.count('a', 'key_refused', 'one', 9))
  t.true(counts.count('a', 'key_refused', 'two', 7))
  t.true(counts.count('b', 'key_refused', 'one', 8))
  t.false(counts.count('c', 'key_refused', 'one', 8))
  const a = { wallet: 'a', kind: 'key_refused', network: 'one', at: 5, id: 1, count: 2 }
  const two = { ...a, network: 'two', at: 7, id: 2, count: 1 }
  const b = { ...a, wallet: 'b', at: 8, id: 3, count: 1 }
  t.deepEqual(counts.unwritten(), [a, two, b])
  counts.wrote([a, two], 10)
  t.deepEqual(counts.unwritten(), [b])
  t.deepEqual([counts.hasUnwritten('a'), counts.hasUnwritten('b')], [false, true])
  t.true(counts.count('a', 'key_refused', 'one', 11))
  t.deepEqual(counts.unwritten(), [{ ...a, count: 3 }, b])
  counts.forget(new Set(['b']))
  counts.wrote([{ ...a, count: 3 }], hour)
  t.deepEqual(counts.unwritten(), [])
  for (const wallet of ['d', 'e', 'f']) t.true(counts.count(wallet, 'key_refused', 'one', hour))
  t.false(counts.count('g', 'key_refused', 'one', hour))
})

test('a network is an IPv4 /24 or an IPv6 /48', (t) => {
  t.deepEqual(['192.0.2.255', '2001:db8:1:2::/64', '::1', 'unknown', ''].map(networkOf), [
    '192.0.2.0/24',
    '2001:db8:1::/48',
    '::/48',
    'unknown',
    'unknown',
  ])
})

test('a metric counts the dropped events', async (t) => {
  const registry = createRegistry()
  const one = await startApi(opened.store, { registry })
  t.regex(await registry.metrics(), /api_account_events_dropped_total 0/)
  await one.close()
})
