import { setTimeout as pause } from 'node:timers/promises'
import test from 'ava'
import { createPerturb, type Perturb } from '../../pipeline/domain/perturbation.ts'
import type { Row, Store } from '../../pipeline/store/store.ts'
import { createBackfillJobs, newJob } from '../../pipeline/store/tables/backfills.ts'
import { insertProfitHours } from '../../pipeline/store/tables/profit-hours.ts'
import { EMPTY_METRICS } from '../../pipeline/store/tables/wallet-metrics.ts'
import { Leaderboard } from '../rows/leaderboard.ts'
import { ask, creditsOf } from '../testing/ask.ts'
import { openStore, type TestStore } from '../testing/open-stores.ts'
import { insertWallets } from '../testing/rows.ts'
import { startApi, type TestApi } from '../testing/start-api.ts'

/*
 * `GET /wallets` as a leaderboard (rule L10), of hours that are written by hand.
 */

const T = 1_700_002_800 // a full hour
const HOUR = 3600
const DAY = 86_400
const SOL = 1_000_000_000

/** Hour, sells with a value, trades; then volume, realised profit, and that of strict, in SOL. */
type Figures = readonly [number, number, number, number, number, number]

const anHour = (
  wallet: number,
  mint: string,
  [hour, valued, trades, volume, realized, strict]: Figures,
  rest: Row = {},
): Row => ({
  wallet,
  hour,
  mint,
  trades,
  valued_sells: valued,
  volume_lamports: String(volume * SOL),
  realized_lamports: String(realized * SOL),
  strict_realized_lamports: String(strict * SOL),
  version: '1',
  ...rest,
})

const HOURS = [
  anHour(1, 'A', [T - HOUR, 1, 2, 10, 5, 0]),
  anHour(1, 'B', [T - HOUR, 1, 1, 1, -1, -1]),
  anHour(1, 'A', [T - 8 * DAY, 1, 4, 2, -6, -6]),
  anHour(1, 'A', [T, 1, 9, 50, 100, 100]), // not over yet
  anHour(2, 'A', [T - 7 * DAY, 0, 1, 3, 0, 0]), // the first hour of seven days
  anHour(2, 'B', [T - DAY, 1, 5, 9, 9, 9]),
  anHour(2, 'B', [T - DAY, 0, 0, 0, 0, 0], { version: '2', is_deleted: 1 }),
  anHour(4, 'C', [T - 7 * DAY - HOUR, 1, 60, 5, 4, 4]), // the last hour before them
]

const METRICS = [
  { wallet: 1, status: 'scored', score_e2: 8000, buys: '7' },
  { wallet: 2, status: 'review', score_e2: null, buys: '1' },
  { wallet: 3, status: 'disqualified', score_e2: 1000 },
  { wallet: 4, status: 'scored', score_e2: 8000, sells: '60' },
].map((row) => ({ ...EMPTY_METRICS, ...row, version: '1' }))

let opened: TestStore
let store: Store
let api: TestApi
let key: string

test.serial.before(async () => {
  opened = await openStore()
  store = opened.store
  await insertWallets(store, 4)
  api = await startApi(store)
  key = (await api.customer(1000)).key
})
test.after.always(async () => {
  await api?.close()
  await opened?.remove()
})

interface Item {
  readonly identity: { readonly wallet: string; readonly status: string }
  readonly period: Record<string, number | null>
}

async function list(query: string, of: TestApi = api, its: string = key) {
  const { body } = await ask(of, `/wallets?${query}`, its)
  const items = body.items as unknown as Item[] // of this schema
  return {
    as_of: body.as_of,
    total: body.total,
    items: items.map(({ identity, period }) => ({ wallet: identity.wallet, ...period })),
  }
}
const walletsOf = async (query: string) =>
  (await list(query)).items.map(({ wallet }) => wallet).join(' ')

const NONE = { as_of: null, total: 0, items: [] }

test.serial('a list that does not exist yet is free, also from the cache and as 304', async (t) => {
  await api.writer.moveTo(999, T + 90)
  t.deepEqual(creditsOf(await ask(api, '/wallets', key)), ['1', '999'])
  await api.writer.insert('wallet_metrics', METRICS)
  await api.writer.moveTo(1000, T + 91)
  const first = await ask(api, '/wallets?period=7d', key)
  t.deepEqual([first.status, first.body.as_of, ...creditsOf(first)], [200, null, '0', '999'])
  t.deepEqual(creditsOf(await ask(api, '/wallets?period=7d', key)), ['0', '999'])
  const etag = first.headers.get('etag') ?? ''
  const known = await ask(api, '/wallets?period=7d', key, { headers: { 'if-none-match': etag } })
  t.deepEqual([known.status, ...creditsOf(known)], [304, '0', '999'])
})

test.serial('there is no list before the history of wallets is complete', async (t) => {
  const jobs = createBackfillJobs(store)
  const job = newJob(3, 'added', { fromSlot: null, toSlot: 900 }, 1000)
  await jobs.save([job])
  await api.writer.moveTo(1001, T + 101)
  t.deepEqual(await list('sort=pnl'), NONE)
  await jobs.save([{ ...job, state: 'done' }])
  await api.writer.moveTo(1002, T + 111)
  // Three wallets traded, and none has hours: they are still to be folded again.
  t.deepEqual(await list('sort=pnl'), NONE)
  await insertProfitHours(store, HOURS)
  await api.writer.moveTo(1003, T + 120)
  t.deepEqual(await list('sort=pnl'), NONE) // looked at ten seconds later
  await api.writer.moveTo(1004, T + 121)
  t.is((await list('sort=pnl')).as_of, T)
})

test.serial('a list has the figures of its period, up to the last full hour', async (t) => {
  const none = { pnl_sol: 0, winrate: null, trades: 0, volume_sol: 0 }
  const second = { ...none, wallet: 'W2', trades: 1, volume_sol: 3 }
  t.deepEqual(await list('sort=pnl&period=7d'), {
    as_of: T,
    total: 4,
    items: [
      { wallet: 'W1', pnl_sol: 4, winrate: 50, trades: 3, volume_sol: 11, rank: 1 },
      { ...second, rank: 2 },
      { wallet: 'W3', ...none, rank: 3 },
      { wallet: 'W4', ...none, rank: 4 },
    ],
  })
  t.deepEqual(await list('sort=pnl&order=asc&mode=strict&period=7d&min_trades=1'), {
    as_of: T,
    total: 2,
    items: [
      { wallet: 'W1', pnl_sol: -1, winrate: 0, trades: 3, volume_sol: 11, rank: 1 },
      { ...second, rank: 2 },
    ],
  })
  t.deepEqual(await list('status=scored'), {
    as_of: T,
    total: 2,
    items: [
      { wallet: 'W1', pnl_sol: -2, winrate: 0, trades: 7, volume_sol: 13, rank: 1 },
      { wallet: 'W4', pnl_sol: 4, winrate: 100, trades: 60, volume_sol: 5, rank: 2 },
    ],
  })
})

test.serial('nulls come last in either order, and ties go to the lower alias', async (t) => {
  t.deepEqual(
    {
      score: await walletsOf('sort=score'),
      scoreAsc: await walletsOf('order=asc'),
      winrate: await walletsOf('sort=winrate&period=all'),
      winrateAsc: await walletsOf('sort=winrate&order=asc'),
      trades: await walletsOf('sort=trades'),
      tradesAsc: await walletsOf('sort=trades&order=asc&min_trades=2'),
      volume: await walletsOf('sort=volume&period=30d'),
      pnlAsc: await walletsOf('sort=pnl&order=asc'),
    },
    {
      score: 'W1 W4 W3 W2',
      scoreAsc: 'W3 W1 W4 W2',
      winrate: 'W4 W1 W2 W3',
      winrateAsc: 'W1 W4 W2 W3',
      trades: 'W4 W1 W2 W3',
      tradesAsc: 'W1 W4',
      volume: 'W1 W4 W2 W3',
      pnlAsc: 'W1 W2 W3 W4',
    },
  )
})

test.serial(
  'without a sort a list is by score, or by profit in a period without one',
  async (t) => {
    t.deepEqual(
      {
        all: await walletsOf('period=all'),
        minTrades: await walletsOf('min_trades=0'),
        mode: await walletsOf('mode=strict'),
        days: await list('period=7d&order=asc'),
      },
      {
        all: await walletsOf('sort=score'),
        minTrades: await walletsOf('sort=score'),
        mode: await walletsOf('sort=score'),
        days: await list('sort=pnl&period=7d&order=asc'),
      },
    )
    const { status, body } = await ask(api, '/wallets?sort=score&period=7d', key)
    t.is(status, 400)
    t.deepEqual(body.errors, [
      {
        in: 'query',
        name: 'sort',
        message:
          'expected another sort than `score` with a period of `7d` or `30d`, which has no score',
      },
    ])
  },
)

test.serial('a list stays the same until the next full hour', async (t) => {
  const before = await list('sort=pnl')
  await insertProfitHours(store, [anHour(3, 'A', [T - HOUR, 1, 2, 10, 70, 70])])
  await api.writer.moveTo(1005, T + HOUR - 1)
  t.deepEqual(await list('sort=pnl'), before)
  await api.writer.moveTo(1006, T + HOUR)
  t.is((await list('sort=pnl')).as_of, T + HOUR)
  t.is(await walletsOf('sort=pnl'), 'W1 W3 W4 W2')
  t.like(await list('sort=pnl'), { items: [{ wallet: 'W1', pnl_sol: 98 }] })
})

test.serial('while a new hour is being read, the hour before answers', async (t) => {
  let reading: Promise<unknown> = Promise.resolve()
  let patienceMs = 60_000
  let blockTime = T + HOUR
  const query = async (...args: Parameters<Store['query']>) => {
    await reading
    return store.query(...args)
  }
  const board = new Leaderboard({
    store: { ...store, query: query as Store['query'] },
    position: { stored: () => ({ slot: 3000, blockTime }), walletCount: () => 4 },
    metricsOf: () => undefined,
    isSalted: false,
    get patienceMs() {
      return patienceMs
    },
  })
  const asOf = async () => {
    const list = { sort: 'pnl', order: 'desc', status: null, minTrades: 0 } as const
    return (await board.page({ ...list, period: '7d', mode: 'raw' }, 0, 4)).asOf
  }
  t.is(await asOf(), T + HOUR)

  let end = () => {}
  reading = new Promise<void>((resolve) => {
    end = resolve
  })
  blockTime += HOUR
  patienceMs = 0
  t.deepEqual([await asOf(), await asOf()], [T + HOUR, T + HOUR])
  end()
  patienceMs = 60_000
  t.is(await asOf(), T + 2 * HOUR)

  blockTime += HOUR
  reading = Promise.reject(new Error('lost'))
  await t.throwsAsync(asOf, { message: 'lost' })
  reading = new Promise<void>((resolve) => {
    end = resolve
  })
  patienceMs = 0
  t.is(await asOf(), T + 2 * HOUR)
  end()
  patienceMs = 60_000
  t.is(await asOf(), T + 3 * HOUR)

  reading = pause(20)
  blockTime += 2 * HOUR
  patienceMs = 0
  t.is(await asOf(), T + 5 * HOUR) // two hours ago is too old
})

test.serial('a page past the end has no items, and a list costs one credit', async (t) => {
  const answer = await ask(api, '/wallets?sort=pnl&page=2', key)
  t.deepEqual(answer.body, {
    page: 2,
    page_size: 25,
    total: 4,
    has_more: false,
    as_of: T + HOUR,
    items: [],
  })
  t.is(creditsOf(answer)[0], '1')
})

test.serial('without parameters of a list an answer has no field of one', async (t) => {
  const { body } = await ask(api, '/wallets', key)
  t.deepEqual(Object.keys(body), ['page', 'page_size', 'total', 'has_more', 'items'])
  t.deepEqual(
    (body.items as object[]).map((item) => Object.keys(item).join(' ')),
    [...Array<string>(4).fill('identity pnl activity behavior computed_at')],
  )
})

test.serial('with a salt sums have two digits, and an hour ends 16 s late', async (t) => {
  await insertProfitHours(store, [
    anHour(4, 'D', [T - HOUR, 1, 2, 1.2549, -1.2549, 0.125], { version: '2' }),
  ])
  const perturb = createPerturb('a salt of this test') as Perturb // there is a salt
  const salted = await startApi(store, { perturb })
  t.teardown(() => salted.close())
  const its = (await salted.customer(100)).key
  await salted.writer.moveTo(2000, T + HOUR + 15)
  t.is((await list('sort=pnl&period=7d', salted, its)).as_of, T)
  await salted.writer.moveTo(2001, T + HOUR + 16)
  const { as_of, items } = await list('sort=pnl&period=7d&order=asc', salted, its)
  t.is(as_of, T + HOUR)
  t.deepEqual(items[0], {
    wallet: 'W4',
    pnl_sol: -1.3,
    winrate: 0,
    trades: 2,
    volume_sol: 1.3,
    rank: 1,
  })
})
