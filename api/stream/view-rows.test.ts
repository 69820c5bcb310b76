import { once } from 'node:events'
import { setTimeout as pause } from 'node:timers/promises'
import test from 'ava'
import { WebSocket } from 'ws'
import type { Address } from '../../pipeline/domain/address.ts'
import type { Row, Store } from '../../pipeline/store/store.ts'
import type { Billing } from '../billing/billing.ts'
import { createCursorCodec } from '../cursor.ts'
import { BONK, JUP } from '../testing/a-swap.ts'
import { ask } from '../testing/ask.ts'
import { openStore, type TestStore } from '../testing/open-stores.ts'
import { QUIET_TOKEN } from '../testing/rows.ts'
import { startApi, type TestApi } from '../testing/start-api.ts'
import { connect } from '../testing/start-feed.ts'
import { encodeView, startOfSnapshot } from './view-position.ts'

/*
 * The channels `watchlist` and `signals` from the tables to the socket, through the whole API (rule
 * F1, G).
 */

const T = 1_790_000_000
const BOTH = { channels: ['watchlist', 'signals'] }
let opened: TestStore
let store: Store
let api: TestApi
/** A second process over the same store. */
let other: TestApi
let clock = T * 1000
const subscribers = new Map<string, number>()

test.before(async () => {
  opened = await openStore()
  store = opened.store
  const billing = {
    async pro(wallet: string) {
      const expiresAt = subscribers.get(wallet) ?? 0
      return { active: expiresAt * 1000 > clock, expiresAt }
    },
  } as unknown as Billing // the API calls only `pro` here
  const config = { publicUrl: 'http://api.example', connectionsPerKey: 2 }
  const options = { billing: () => billing, now: () => clock }
  api = await startApi(store, { ...options, config })
  other = await startApi(store, { ...options, config: { ...config, jwtKeys: api.config.jwtKeys } })
})
test.after.always(async () => {
  await Promise.all([api.close(), other.close()])
  await opened.remove()
})

const socketUrl = ({ url }: TestApi) => `${url.replace('http', 'ws')}/ws`

/** A wallet with Pro until a time, and its token. */
async function subscriber(until: number): Promise<{ wallet: Address; token: string }> {
  const { wallet } = await api.customer(0)
  subscribers.set(wallet, until)
  return { wallet, token: await api.token(wallet) }
}

/** Stores the rows that the trending worker writes at a tick. */
async function tick(at: number, list: readonly Row[], fired: readonly Row[]): Promise<void> {
  await store.insert('watchlist', list)
  await store.insert('signals', fired)
  await store.insert('progress', [
    { worker: 'trending', partition: 0, partitions: 1, slot: at, parent: at - 10, block_time: at },
  ])
  clock += 1000 // the dashboard's resources look for the newest tick twice a second
}
const listRow = (at: number, mint: string, event: string, rest: Row = {}): Row => ({
  at,
  mint,
  entry: T,
  event,
  symbol: 'A',
  name: 'B',
  first_trade_at: T - 60,
  discovered_at: T,
  oldest_hold_at: T - 60,
  last_trade_at: at,
  wallets: [1, 2],
  conviction: 50,
  held_lamports: '2000000000',
  pct_held: 0.5,
  avg_entry_mcap: 1000,
  current_mcap: 2000,
  multiple: 2,
  band_min: 900,
  band_max: 1100,
  buy_lamports: '1',
  sell_lamports: '0',
  ...QUIET_TOKEN,
  ...rest,
})
const signalRow = (fired_at: number, mint: string, strategy: string): Row => ({
  fired_at,
  strategy,
  mint,
  entry: T,
  id: Buffer.from(strategy).toString('hex').padEnd(32, '0'),
  symbol: 'A',
  name: 'B',
  conviction: 50,
  wallets_holding: 2,
  wallets: [1, 2],
  trigger_mcap: 1000,
  held_lamports: '2000000000',
  buy_lamports: '1',
  sell_lamports: '0',
  reasons: [{ field: 'conviction', op: '>=', threshold: '40', value: '50' }],
})
const dataOf = (messages: readonly unknown[]) =>
  messages.map((message) => (message as { data: object }).data)

test.serial(
  'before the upgrade: 401 without a valid token, 403 without Pro, 426 without an upgrade header (rule F1)',
  async (t) => {
    const { token } = await subscriber(T + 1000)
    const { wallet, key } = await api.customer(5)
    const without = await api.token(wallet)
    const expired = await subscriber(T)
    const refusals: [string, number, string][] = [
      [`${token.slice(0, -2)}${token.endsWith('AA') ? 'gg' : 'AA'}`, 401, 'unauthorized'],
      [`${key}.${key}.${key}`, 401, 'unauthorized'],
      [without, 403, 'pro_required'],
      [expired.token, 403, 'pro_required'],
    ]
    for (const [bearer, status, code] of refusals) {
      const socket = new WebSocket(socketUrl(api), ['bearer', bearer])
      socket.on('error', () => {})
      const [, response] = await once(socket, 'unexpected-response')
      const chunks: Buffer[] = await response.toArray()
      const body = JSON.parse(Buffer.concat(chunks).toString())
      t.deepEqual([response.statusCode, body.code], [status, code])
      // A request without an upgrade gets the same status, because authentication comes first.
      t.is((await ask(api, '/ws', bearer)).status, status)
    }
    t.is((await ask(api, '/ws', token)).status, 426)
    t.is((await ask(api, `/ws?token=${token}`)).status, 401)
    const browser = new WebSocket(socketUrl(api), ['bearer', token])
    await once(browser, 'open')
    t.is(browser.protocol, 'bearer')
    browser.close()
    await once(browser, 'close')
  },
)

test.serial(
  'snapshots equal the responses of the dashboard, changes equal the tables, in every process',
  async (t) => {
    const { token } = await subscriber(T + 1000)
    await tick(
      T,
      [listRow(T, JUP, 'entered'), listRow(T, BONK, 'entered')],
      [signalRow(T, JUP, 'b')],
    )
    await tick(
      T + 10,
      [listRow(T + 10, BONK, 'changed', { conviction: 90 })],
      [signalRow(T + 10, JUP, 'a')],
    )
    // Tick T + 20 is not completely stored, so clients do not receive it.
    await store.insert('watchlist', [listRow(T + 20, JUP, 'left')])
    await store.insert('signals', [signalRow(T + 20, BONK, 'c')])

    const client = await connect(socketUrl(api), token)
    // The feed polls storage once per second.
    const start = encodeView(createCursorCodec(api.config), startOfSnapshot(T + 10))
    let began = ''
    for (; began !== start; await pause(20)) {
      const probe = await connect(socketUrl(api), token)
      began = ((await probe.subscribe({ channels: ['signals'] })) as { cursor: string }).cursor
      await probe.close()
    }
    t.like(await client.subscribe(BOTH), { cursor: start })
    const snapshot = await client.take(5)
    const [complete] = snapshot.splice(4)
    t.like(complete, { type: 'snapshot_complete' })
    const listed = (await ask(api, '/me/watchlists/trending', token)).body.items
    t.deepEqual(
      listed.map(({ mint }) => mint),
      [BONK, JUP],
    )
    t.deepEqual(dataOf(snapshot.slice(0, 2)), listed)
    const signals = (await ask(api, '/me/signals/filter', token)).body.items
    t.deepEqual(dataOf(snapshot.slice(2)), signals.reverse())
    t.is(signals.length, 2)

    const changed = listRow(T + 20, BONK, 'changed', { state: 'accumulating' })
    await tick(T + 20, [changed, listRow(T + 20, JUP, 'left')], [signalRow(T + 20, BONK, 'c')])
    const news = await client.take(3)
    const [now] = (await ask(api, '/me/watchlists/trending', token)).body.items
    t.like(now, { mint: BONK, state: 'accumulating' })
    const left = { mint: JUP, symbol: 'A', name: 'B' }
    const [fired] = (await ask(api, '/me/signals/filter', token)).body.items
    t.like(fired, { mint: BONK, strategy: 'c', fired_at: T + 20 })
    // A signal is sent as of when it fired: `current_mcap` equals the market cap at that time.
    t.deepEqual(dataOf(news), [now, left, { ...fired, current_mcap: 1000, multiple: 1 }] as never)
    t.deepEqual(await client.fence(), [])

    // Resumes on another process: from the start, within the snapshot, and after the snapshot.
    const same = await connect(socketUrl(other), token)
    const all = [...snapshot, complete, ...news]
    const from = [start, (snapshot[2] as { id: string }).id, (news[0] as { id: string }).id]
    for (const [index, after] of from.entries()) {
      await same.subscribe({ ...BOTH, after })
      const expected = all.slice([0, 3, 6][index])
      t.deepEqual(await same.take(expected.length), expected)
      t.deepEqual(await same.fence(), [])
    }
    await Promise.all([client.close(), same.close()])
  },
)

test.serial(
  'a logout ends the open connections of its token, and the token opens no new one (rule E1)',
  async (t) => {
    const { wallet, token } = await subscriber(T + 1000)
    const client = await connect(socketUrl(api), token)
    const stays = await connect(socketUrl(api), await api.token(wallet))
    t.is((await ask(api, '/auth/logout', token, { method: 'POST' })).status, 204)
    t.deepEqual(await client.take(2), [{ type: 'token_revoked' }])
    t.is(await client.closed, 1008)
    t.deepEqual(await stays.fence(), [])
    t.is((await ask(api, '/ws', token)).status, 401)
    clock = (T + 1000) * 1000
    stays.send({ action: 'ping' })
    t.deepEqual(await stays.take(2), [{ type: 'pro_expired' }])
    await stays.closed
  },
)
