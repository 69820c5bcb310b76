import test, { type ExecutionContext } from 'ava'
import { createPerturb, type Perturb } from '../../pipeline/domain/perturbation.ts'
import { WSOL } from '../../pipeline/domain/quote.ts'
import type { Row } from '../../pipeline/store/store.ts'
import { insertPoolStates } from '../../pipeline/store/tables/pool-states.ts'
import { ask, creditsOf } from '../testing/ask.ts'
import { openStore, type TestStore } from '../testing/open-stores.ts'
import { aSwapRow, insertWallets, MINT } from '../testing/rows.ts'
import { startApi, type TestApi } from '../testing/start-api.ts'

/*
 * Whole responses of `GET /wallets/{alias}/positions` and `/pnl` (rules L6 to L8, L13).
 */

const T = 1_700_000_000 // 22:13:20
const JUP = 'JUPyiwrYJFskUPiHa7hkeR8VUtAeFoSYbKedZNsDvCN'
const SOL = 1_000_000_000

let opened: TestStore
test.before(async () => {
  opened = await openStore()
  await insertWallets(opened.store, 3)
})
test.after.always(() => opened.remove())

/** A swap of 10^6 raw units, one token, for a number of SOL. */
const swap = (slot: number, side: 'buy' | 'sell', sol: number, rest: Row = {}) =>
  aSwapRow(slot, {
    side,
    base_amount: '1000000',
    quote_amount: String(sol * SOL),
    value_lamports: String(sol * SOL),
    ...rest,
  })

const transfer = (slot: number, direction: 'in' | 'out', mint: string, amount: number): Row => ({
  slot,
  tx_index: 0,
  wallet: 1,
  event_index: 0,
  block_time: T + slot,
  signature: 'never published',
  direction,
  mint,
  amount: String(amount),
  decimals: 6,
})

/** Starts an API over empty event tables. */
async function start(t: ExecutionContext, perturb: Perturb | null = null) {
  const { store } = opened
  for (const table of ['swaps', 'transfers', 'pool_states', 'progress', 'wallet_metrics'])
    await store.command(`TRUNCATE TABLE ${table}`)
  const api = await startApi(store, perturb ? { perturb } : {})
  t.teardown(() => api.close())
  const { key } = await api.customer(1000)
  return { api, key, get: async (path: string) => (await ask(api, path, key)).body }
}

/**
 * `W1` buys 2 tokens for 3 SOL each, gets one as a gift, sells 1.5 for 9 SOL, and buys one of
 * another token that it sells at a loss. `W2` buys at 2 SOL a token.
 */
async function storeHistory({ writer }: TestApi): Promise<void> {
  await writer.insert('swaps', [
    swap(10, 'buy', 6, { base_amount: '2000000' }),
    swap(30, 'sell', 9, { base_amount: '1500000' }),
    swap(40, 'buy', 4, { base_mint: JUP }),
    swap(50, 'sell', 1, { base_mint: JUP }),
    swap(60, 'buy', 2, { wallet: 2 }),
    swap(70, 'buy', 1, { wallet: 2, is_deleted: 1 }),
  ])
  await writer.insert('transfers', [transfer(20, 'in', MINT, 1_000_000)])
}

const token = (address: string) => ({ address, decimals: 6, symbol: null, name: null })
const CLOSED = {
  token: token(JUP),
  status: 'closed',
  amount: '0',
  cost_sol: 0,
  avg_cost_sol: null,
  realized_sol: -3,
  price_sol: null,
  price_source: null,
  price_age_seconds: null,
  value_sol: null,
  unrealized_sol: null,
  bought_sol: 4,
  sold_sol: 1,
  buys: 1,
  sells: 1,
  return_pct: -75,
  holding_seconds: 10,
  first_trade_at: T + 40,
  last_trade_at: T + 50,
}
/** Of the buy half a token is left, and of the gift all. */
const OPEN = {
  token: token(MINT),
  status: 'open',
  amount: '1500000',
  cost_sol: 1.5,
  avg_cost_sol: 1,
  realized_sol: 4.5,
  price_sol: 2,
  price_source: 'swap',
  price_age_seconds: 40,
  value_sol: 3,
  unrealized_sol: 1.5,
  bought_sol: 6,
  sold_sol: 9,
  buys: 1,
  sells: 1,
  return_pct: 100,
  holding_seconds: 90,
  first_trade_at: T + 10,
  last_trade_at: T + 30,
}

test.serial(
  'a position has its cost, profit, value and return; strict ignores the gift (L7)',
  async (t) => {
    const { api, key, get } = await start(t)
    const list = { wallet: 'W1', limit: 100, has_more: false, next_cursor: null }
    t.deepEqual(await get('/wallets/W1/positions'), {
      ...list,
      status: 'open',
      mode: 'raw',
      as_of: null,
      count: 0,
      items: [],
    })
    await storeHistory(api)
    await api.writer.moveTo(100)
    t.deepEqual(
      {
        all: await get('/wallets/W1/positions?status=all'),
        closed: (await get('/wallets/W1/positions?status=closed')).items,
        strict: (await get('/wallets/W1/positions?mode=strict')).items,
        nobody: (await get('/wallets/W3/positions')).items,
      },
      {
        all: {
          ...list,
          status: 'all',
          mode: 'raw',
          as_of: T + 100,
          count: 2,
          items: [CLOSED, OPEN],
        },
        closed: [CLOSED],
        strict: [
          {
            ...OPEN,
            amount: '500000',
            avg_cost_sol: 3,
            value_sol: 1,
            unrealized_sol: -0.5,
            return_pct: (100 * 4) / 6,
          },
        ],
        nobody: [],
      },
    )
    t.deepEqual(creditsOf(await ask(api, '/wallets/W1/positions', key)), ['1', '994'])
  },
)

test.serial(
  'without a price a position has no value and no return, and a gift alone no trade (L7)',
  async (t) => {
    const { api, get } = await start(t)
    await api.writer.insert('swaps', [swap(10, 'buy', 6)])
    await api.writer.insert('transfers', [transfer(20, 'in', JUP, 1_234_567)])
    await api.writer.moveTo(100)
    const unknown = {
      price_sol: null,
      price_source: null,
      price_age_seconds: null,
      value_sol: null,
      unrealized_sol: null,
      return_pct: null,
    }
    const none = { bought_sol: 0, sold_sol: 0, buys: 0, sells: 0, realized_sol: 0 }
    const never = { holding_seconds: null, first_trade_at: null, last_trade_at: null }
    t.deepEqual((await get('/wallets/W1/positions')).items, [
      {
        ...OPEN,
        ...unknown,
        ...none,
        ...never,
        token: token(JUP),
        amount: '1234567',
        cost_sol: 0,
        avg_cost_sol: 0,
      },
      {
        ...OPEN,
        ...unknown,
        amount: '1000000',
        cost_sol: 6,
        avg_cost_sol: 6,
        realized_sol: 0,
        sold_sol: 0,
        sells: 0,
        last_trade_at: T + 10,
      },
    ])
  },
)

test.serial(
  'pages of positions skip and repeat none that did not trade; a cursor has one scope (L7)',
  async (t) => {
    const { api, key, get } = await start(t)
    const mints = Array.from({ length: 5 }, (_, at) => `Mint${'1'.repeat(39)}${at + 1}`)
    const buys = mints.map((base_mint, at) => swap(10 + at, 'buy', 1, { base_mint }))
    await api.writer.insert('swaps', buys)
    await api.writer.moveTo(100)
    const path = '/wallets/W1/positions?limit=2'
    const mintsOf = ({ items }: Awaited<ReturnType<typeof get>>) =>
      items.map((item) => (item.token as { address: string }).address)
    const first = await get(path)
    t.deepEqual(mintsOf(first), [mints[4], mints[3]])
    // The first and a later position trade again: both are at the head now.
    await api.writer.insert('swaps', [
      swap(101, 'buy', 1, { base_mint: mints[4] }),
      swap(102, 'buy', 1, { base_mint: mints[1] }),
    ])
    await api.writer.moveTo(110)
    const second = await get(`${path}&cursor=${first.next_cursor}`)
    t.deepEqual([mintsOf(second), second.has_more], [[mints[2], mints[0]], false])
    for (const other of ['/wallets/W2/positions?', `${path}&mode=strict&`, `${path}&status=all&`])
      t.is((await ask(api, `${other}cursor=${first.next_cursor}`, key)).status, 400, other)
  },
)

test.serial('late, corrected and withdrawn events change what was answered before', async (t) => {
  const { api, get } = await start(t)
  const realized = async () =>
    (await get('/wallets/W1/positions?status=all')).items.map((item) => [
      item.realized_sol,
      item.buys,
    ])
  const refolded = (revision: number) => ({
    wallet: 1,
    status: 'review',
    score_e2: null,
    sol_balance_lamports: null,
    version: String((BigInt(revision) << 32n) + 3n),
    revision,
  })
  await api.writer.insert('swaps', [swap(10, 'buy', 1), swap(30, 'sell', 5)])
  await api.writer.insert('wallet_metrics', [refolded(0)])
  await api.writer.moveTo(100)
  t.deepEqual(await realized(), [[4, 1]])
  await api.writer.insert('swaps', [swap(20, 'buy', 2)])
  await api.writer.insert('wallet_metrics', [refolded(1)])
  await api.writer.moveTo(101)
  t.deepEqual(await realized(), [[4, 2]])
  const corrected = swap(10, 'buy', 3, { version: 1 })
  await api.writer.insert('swaps', [corrected])
  await api.writer.insert('wallet_metrics', [refolded(2)])
  await api.writer.moveTo(102)
  t.deepEqual(await realized(), [[2, 2]])
  await api.writer.insert('swaps', [{ ...corrected, version: 2, is_deleted: 1 }])
  await api.writer.insert('wallet_metrics', [refolded(3)])
  await api.writer.moveTo(103)
  t.deepEqual(await realized(), [[3, 1]])
  await api.writer.insert('swaps', [swap(110, 'sell', 9)])
  await api.writer.moveTo(104)
  t.deepEqual(await realized(), [[3, 1]], 'nothing beyond the marker counts')
})

test.serial(
  'profit at full hours is what happened until then, at the prices of then (L8)',
  async (t) => {
    const { api, key, get } = await start(t)
    t.deepEqual(await get('/wallets/W1/pnl'), {
      wallet: 'W1',
      interval: '1d',
      mode: 'raw',
      as_of: null,
      count: 0,
      items: [],
    })
    await storeHistory(api) // until 22:14:30
    await insertPoolStates(opened.store, [
      {
        at: T + 7000,
        mint: MINT,
        pool: 'pool',
        quoteMint: WSOL,
        quoteReserve: 1n,
        slot: 1,
        price: { quote: 4000n, base: 1n }, // 4 SOL a token
      },
    ])
    await api.writer.moveTo(200, T + 9000) // 00:43:20
    const [at23, at0, now] = [T + 2800, T + 6400, T + 9000]
    const point = (time: number, unrealized: number, volume: number) => ({
      time,
      realized_sol: 1.5,
      unrealized_sol: unrealized,
      total_sol: 1.5 + unrealized,
      open_cost_sol: 1.5,
      volume_sol: volume,
      unpriced: 0,
    })
    const nothing = {
      realized_sol: 0,
      unrealized_sol: 0,
      total_sol: 0,
      open_cost_sol: 0,
      volume_sol: 0,
      unpriced: 0,
    }
    const atStart = { time: T - 800, ...nothing }
    const points = [atStart, point(at23, 1.5, 20), point(at0, 1.5, 0), point(now, 4.5, 0)]
    const hours = '/wallets/W1/pnl?interval=1h'
    t.deepEqual(
      {
        all: await get(`${hours}&from=${T - 800}`),
        within: (await get(`${hours}&from=${T - 799}&to=${at0}`)).items,
        exact: (await get(`${hours}&from=${at23}&to=${at0 + 1}`)).items,
        days: (await get(`/wallets/W1/pnl?from=${T}`)).items,
        lastMonth: (await get('/wallets/W1/pnl')).items.map(({ time }) => time),
        none: (await get(`${hours}&from=${now + 1}`)).items,
      },
      {
        all: {
          wallet: 'W1',
          interval: '1h',
          mode: 'raw',
          as_of: now,
          count: 4,
          items: points,
        },
        within: points.slice(1, 2),
        exact: points.slice(1, 3),
        days: [point(at0, 1.5, 20), point(now, 4.5, 20)],
        lastMonth: [...Array.from({ length: 30 }, (_, at) => at0 - (29 - at) * 86_400), now],
        none: [],
      },
    )
    const refused = await ask(api, `${hours}&from=${now - 1000 * 3600}`, key)
    t.deepEqual([refused.status, refused.body.code], [400, 'invalid_parameter'])
    t.is((await ask(api, `${hours}&from=${now - 998 * 3600}`, key)).status, 200)
  },
)

test.serial('the same request has new points when the storage marker has moved (L8)', async (t) => {
  const { api, get } = await start(t)
  await storeHistory(api)
  await api.writer.moveTo(100, T + 100)
  const path = '/wallets/W1/pnl'
  const first = await get(path)
  t.deepEqual([first.as_of, first.items.at(-1)?.time], [T + 100, T + 100])
  t.deepEqual(await get(path), first)
  await api.writer.insert('swaps', [swap(150, 'sell', 8)])
  await api.writer.moveTo(200, T + 200)
  const second = await get(path)
  // Half a token that cost 1.5 SOL and half of the gift gave 8 SOL.
  t.deepEqual(
    [second.as_of, second.items.at(-1)?.time, second.items.at(-1)?.realized_sol],
    [T + 200, T + 200, 8],
  )
})

test.serial(
  'an open position without a price is counted, and adds nothing to the profit (L8)',
  async (t) => {
    const { api, get } = await start(t)
    await api.writer.insert('swaps', [
      swap(10, 'buy', 6),
      swap(20, 'buy', 1, { base_mint: JUP }),
      swap(15, 'sell', 3, { base_mint: JUP, wallet: 2 }),
    ])
    await api.writer.moveTo(100, T + 100)
    const [at] = (await get(`/wallets/W1/pnl?from=${T}`)).items
    t.deepEqual(at, {
      time: T + 100,
      realized_sol: 0,
      unrealized_sol: 2,
      total_sol: 2,
      open_cost_sol: 7,
      volume_sol: 7,
      unpriced: 1,
    })
  },
)

test.serial('with a salt figures follow served swaps and are coarsened (L13)', async (t) => {
  // A factor of 1.1, 5 s earlier.
  const perturb: Perturb = () => ({ factorPpm: 1_100_000n, earlierSeconds: 5 })
  const { api, get } = await start(t, perturb)
  await api.writer.insert('swaps', [
    swap(10, 'buy', 12.3456789, { base_amount: '1234567' }),
    swap(30, 'sell', 2, { base_amount: '123456' }),
    swap(60, 'buy', 20.004, { wallet: 2 }),
  ])
  await api.writer.moveTo(100)
  // Bought 1.358023 tokens for 13.58024679 SOL, sold 0.135801 (cost 1.35801...) for 2.2. Held:
  // 1.222222 tokens that cost 12.2222..., worth 24.449...
  t.deepEqual((await get('/wallets/W1/positions')).items, [
    {
      ...OPEN,
      amount: '1220000',
      cost_sol: 12,
      avg_cost_sol: 10,
      realized_sol: 0.84,
      price_sol: 20,
      price_age_seconds: 45,
      value_sol: 24,
      unrealized_sol: 12,
      bought_sol: 14,
      sold_sol: 2.2,
      return_pct: (100 * 12.84) / 14,
      holding_seconds: 95,
      first_trade_at: T + 5,
      last_trade_at: T + 25,
    },
  ])
  const [point] = (await get(`/wallets/W1/pnl?from=${T}`)).items
  t.deepEqual(point, {
    time: T + 100,
    realized_sol: 0.84,
    unrealized_sol: 12,
    total_sol: 13,
    open_cost_sol: 12,
    volume_sol: 16, // 13.58 + 2.2
    unpriced: 0,
  })
})

test.serial('with a salt too a transfer changes no strict answer (L6, L13)', async (t) => {
  const { api, get } = await start(t, createPerturb('a salt of this test'))
  await storeHistory(api)
  await api.writer.moveTo(100)
  const strict = () =>
    Promise.all([
      get('/wallets/W1/positions?mode=strict&status=all'),
      get(`/wallets/W1/pnl?mode=strict&from=${T}`),
    ])
  const before = await strict()
  await api.writer.insert('transfers', [transfer(80, 'out', MINT, 300_000)])
  await api.writer.insert('wallet_metrics', [
    { wallet: 1, status: 'review', version: String(1n << 40n), revision: 1 },
  ])
  await api.writer.moveTo(101, T + 100)
  t.deepEqual(await strict(), before)
})
