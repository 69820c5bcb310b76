import test from 'ava'
import { createLogger } from '../../pipeline/runtime/logger.ts'
import { createRegistry } from '../../pipeline/runtime/telemetry.ts'
import type { Row, Store } from '../../pipeline/store/store.ts'
import { anExactToken } from '../../pipeline/testing/a-watched-token.ts'
import type { Strategy } from '../../pipeline/trending/strategy.ts'
import type { ExactToken, WatchedToken } from '../../pipeline/trending/watched-token.ts'
import { createStrategyRunner } from '../../pipeline/workers/trending/strategy-runner.ts'
import type { Billing } from '../billing/billing.ts'
import { signalItem } from '../items/signal.ts'
import { readSignalsAfter } from '../rows/signal-rows.ts'
import { ask } from '../testing/ask.ts'
import { openStore, type TestStore } from '../testing/open-stores.ts'
import { MINT, QUIET_TOKEN } from '../testing/rows.ts'
import { startApi, type TestApi } from '../testing/start-api.ts'

/*
 * Signals of filter strategies over a store, across restarts, and their responses (contract 4.4,
 * rules G5, D2, D3).
 */

const JUP = 'JUPyiwrYJFskUPiHa7hkeR8VUtAeFoSYbKedZNsDvCN'
const AT = 1_790_000_000

let opened: TestStore
let store: Store
let api: TestApi
let pro: string
let other: string
let clock = Date.now()

test.before(async () => {
  opened = await openStore()
  store = opened.store
  let subscriber: string | undefined
  const billing = { pro: async (wallet: string) => ({ active: wallet === subscriber }) }
  // The cast is safe: the API calls only `pro` here.
  api = await startApi(store, { now: () => clock, billing: () => billing as unknown as Billing })
  const { wallet } = await api.customer(0)
  subscriber = wallet
  pro = await api.token(wallet)
  other = await api.token((await api.customer(0)).wallet)
})

test.after.always(async () => {
  await api.close()
  await opened.remove()
})

const HELD: Strategy = {
  name: 'held',
  description: 'Three hold.',
  conditions: [{ field: 'wallets_holding', op: '>=', threshold: 3 }],
}
const UP: Strategy = {
  name: 'up',
  description: 'It rises, and was on the list for a while.',
  conditions: [
    { field: 'momentum.mcap.trend', op: '=', threshold: 'up' },
    { field: 'watchlist_seconds', op: '>=', threshold: 10 },
    { field: 'near_evict', op: '=', threshold: false },
  ],
}

/** A worker as a new process creates it. */
const start = (...strategies: Strategy[]) =>
  createStrategyRunner({
    store,
    strategies,
    logger: createLogger('silent'),
    registry: createRegistry(),
  })

/** The number of stored rows, duplicates included. */
const stored = async () =>
  Number((await store.query<{ n: string }>('SELECT count() AS n FROM signals'))[0]?.n)

const tickOf = (at: number, listed: readonly ExactToken[], left: readonly string[] = []) => ({
  at,
  listed,
  left: left.map((mint) => ({ mint, entry: AT })),
  mcapOf: () => null,
})

const token = (mint: string, fields: Partial<WatchedToken> = {}) =>
  anExactToken({ mint, enteredAt: AT, ...fields })

/** A row of the trending worker for a token that changed or left. */
const watchlistRow = (at: number, mint: string, event: string, mcap: number | null): Row => ({
  at,
  mint,
  entry: AT,
  event,
  symbol: 'Late',
  name: 'Named later',
  current_mcap: mcap,
  first_trade_at: AT,
  discovered_at: AT,
  oldest_hold_at: AT,
  last_trade_at: AT,
  wallets: [1],
  conviction: 1,
  held_lamports: '1',
  pct_held: 1,
  buy_lamports: '0',
  sell_lamports: '0',
  ...QUIET_TOKEN,
})

const tickIsStored = async (at: number) => {
  await store.insert('progress', [
    { worker: 'trending', partition: 0, partitions: 1, slot: at, parent: at - 10, block_time: at },
  ])
  clock += 1000 // the newest tick is read twice a second
}

const served = async (limit = 100) =>
  (await ask(api, `/me/signals/filter?limit=${limit}`, pro)).body.items

test.serial('before anything fires the list is empty', async (t) => {
  t.deepEqual(await served(), [])
  await tickIsStored(AT - 10)
  t.deepEqual(await served(), [])
})

test.serial(
  'a signal is stored once and served with all fields, newest first (rule G5)',
  async (t) => {
    const first = start(HELD, UP)
    await first.onTick(
      tickOf(AT, [token(MINT, { symbol: '', name: '' }), token(JUP, { walletsHolding: 2 })]),
    )
    t.deepEqual(await served(), []) // the tick is not completely stored
    await tickIsStored(AT)
    // Killed before it stored that the tick is done: the next start repeats the tick.
    const second = start(HELD, UP)
    await second.onTick(
      tickOf(AT, [token(MINT, { symbol: '', name: '' }), token(JUP, { walletsHolding: 2 })]),
    )
    await second.onTick(
      tickOf(AT + 10, [token(MINT), token(JUP, { at: AT + 10, currentMcap: null })]),
    )
    await store.insert('watchlist', [
      watchlistRow(AT, MINT, 'entered', 824_001),
      watchlistRow(AT + 10, JUP, 'entered', null),
    ])
    await tickIsStored(AT + 10)
    t.is(await stored(), 4)
    t.deepEqual(
      (await served()).map(({ strategy, mint, fired_at }) => [fired_at, strategy, mint]),
      [
        [AT + 10, 'up', JUP],
        [AT + 10, 'held', JUP],
        [AT + 10, 'up', MINT],
        [AT, 'held', MINT],
      ],
    )
    const [upJup, , upMint, held] = await served()
    t.deepEqual(held, {
      id: (await served()).at(-1)?.id,
      strategy: 'held',
      mint: MINT,
      symbol: 'Late',
      name: 'Named later',
      fired_at: AT,
      conviction: 61.75,
      wallets_holding: 4,
      wallets: ['W3', 'W7', 'W12', 'W40'],
      trigger_mcap: 824_001,
      current_mcap: 824_001,
      multiple: 1,
      sol_held: 18.4,
      buy_volume: 12.5,
      sell_volume: 3.125,
      reasons: [{ field: 'wallets_holding', op: '>=', threshold: 3, value: 4 }],
    })
    t.deepEqual(upMint?.reasons, [
      { field: 'momentum.mcap.trend', op: '=', threshold: 'up', value: 'up' },
      { field: 'watchlist_seconds', op: '>=', threshold: 10, value: 10 },
      { field: 'near_evict', op: '=', threshold: false, value: false },
    ])
    t.deepEqual([upJup?.trigger_mcap, upJup?.current_mcap, upJup?.multiple], [null, null, null])
  },
)

test.serial(
  'market cap and multiple are current while a token is listed, else those at which it left',
  async (t) => {
    await store.insert('watchlist', [watchlistRow(AT + 20, MINT, 'changed', 1_648_002)])
    await tickIsStored(AT + 20)
    const now = async () =>
      (await served())
        .filter(({ mint }) => mint === MINT)
        .map((item) => [item.current_mcap, item.multiple])
    t.deepEqual(await now(), [
      [1_648_002, 2],
      [1_648_002, 2],
    ])
    await store.insert('watchlist', [watchlistRow(AT + 30, MINT, 'left', 412_000.5)])
    await tickIsStored(AT + 30)
    t.deepEqual(await now(), [
      [412_000.5, 0.5],
      [412_000.5, 0.5],
    ])
  },
)

test.serial(
  'after a restart a signal does not fire again for the same listing; a new listing fires again',
  async (t) => {
    const third = start(HELD)
    await third.onTick(tickOf(AT + 40, [token(JUP), token(MINT, { enteredAt: AT + 40 })]))
    t.is(await stored(), 5)
    // Reloaded with one more strategy (SIGHUP): it fires where its conditions hold, and the known
    // one does not fire again.
    third.replace([HELD, { ...UP, name: 'up_too' }])
    await third.onTick(tickOf(AT + 50, [token(JUP), token(MINT, { enteredAt: AT + 40 })]))
    t.is(await stored(), 7)
    await third.onTick(tickOf(AT + 60, [], [JUP, MINT]))
    t.is(await stored(), 7)
    await tickIsStored(AT + 60)
  },
)

test.serial('signals after a tick are read in the order in which they fired', async (t) => {
  const rows = await readSignalsAfter(store, AT + 10, AT + 50)
  t.deepEqual(
    rows.map(signalItem).map((item) => [item.fired_at, item.strategy, item.mint, item.multiple]),
    [
      [AT + 40, 'held', MINT, 1],
      [AT + 50, 'up_too', MINT, 1],
      [AT + 50, 'up_too', JUP, 1],
    ].sort((a, b) => (String(a) < String(b) ? -1 : 1)),
  )
  t.deepEqual(await readSignalsAfter(store, AT + 50, AT + 50), [])
})

test.serial('a limit of 1 to 100, 25 by default; anything else is refused (rule D2)', async (t) => {
  const rows = await store.query<Row>(`SELECT * FROM signals WHERE fired_at = ${AT}`)
  await store.insert(
    'signals',
    Array.from({ length: 100 }, (_, at) => ({ ...rows[0], entry: AT - 1000 - at })),
  )
  t.is((await ask(api, '/me/signals/filter', pro)).body.items.length, 25)
  t.is((await served(1)).length, 1)
  t.is((await served(100)).length, 100)
  for (const query of [
    'limit=0',
    'limit=101',
    'limit=',
    'limit=2.5',
    'limit=-1',
    'limit=a',
    'limit=1&limit=2',
  ]) {
    const { status, body } = await ask(api, `/me/signals/filter?${query}`, pro)
    t.deepEqual([status, body.code], [400, 'invalid_parameter'], query)
  }
})

test.serial('only wallets with active Pro see signals (rule D3)', async (t) => {
  const refusal = async (token?: string) => {
    const { status, body } = await ask(api, '/me/signals/filter', token)
    return [status, body.code]
  }
  t.deepEqual(await refusal(other), [403, 'pro_required'])
  t.deepEqual(await refusal(), [401, 'unauthorized'])
})

test.serial('an analyst sees signals by alias', async (t) => {
  const [{ name } = { name: '' }] = await store.query<{ name: string }>(
    'SELECT currentDatabase() AS name',
  )
  const analyst = name === 'tracked_wallets' ? 'analyst' : `analyst_${name}`
  const rows = await store.query<Row>(
    `SELECT strategy, wallets, reasons, time FROM ${analyst}.signals WHERE fired_at = ${AT + 40}`,
  )
  t.deepEqual(rows, [
    {
      strategy: 'held',
      wallets: ['W3', 'W7', 'W12', 'W40'],
      reasons: [{ field: 'wallets_holding', op: '>=', threshold: '3', value: '4' }],
      time: '2026-09-21 14:14:00',
    },
  ])
})
