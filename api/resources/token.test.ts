import test from 'ava'
import { createPerturb, serveSwap } from '../../pipeline/domain/perturbation.ts'
import { USDC } from '../../pipeline/domain/quote.ts'
import type { Row } from '../../pipeline/store/store.ts'
import { insertMints } from '../../pipeline/store/tables/mints.ts'
import { insertPoolStates } from '../../pipeline/store/tables/pool-states.ts'
import { insertSolPrices } from '../../pipeline/store/tables/sol-prices.ts'
import { ask, creditsOf } from '../testing/ask.ts'
import { openStore, type TestStore } from '../testing/open-stores.ts'
import { aPositionRow, aSwapRow, MINT } from '../testing/rows.ts'
import { startApi } from '../testing/start-api.ts'

/*
 * Whole responses of `GET /tokens/{mint}` (rule L9).
 */

let opened: TestStore
test.beforeEach(async () => {
  opened = await openStore()
})
test.afterEach.always(() => opened.remove())

const T = 1_700_000_000
const NOW = T + 100_000

/** Starts an API whose newest stored block is slot 100000, at `NOW`. */
async function start(t: { teardown(end: () => Promise<void>): void }, salt?: string) {
  const perturb = createPerturb(salt ?? null)
  const api = await startApi(opened.store, perturb === null ? {} : { perturb })
  t.teardown(() => api.close())
  const { key } = await api.customer(1000)
  return { api, get: (mint = MINT) => ask(api, `/tokens/${mint}`, key) }
}

const NOTHING = { buys: 0, sells: 0, volume_sol: 0, wallets: 0 }
const UNKNOWN = {
  as_of: NOW,
  price_sol: null,
  price_usd: null,
  price_source: null,
  price_age_seconds: null,
  market_cap_usd: null,
  holders: 0,
  holders_pct: null,
  first_buy_at: null,
  last_1h: NOTHING,
  last_24h: NOTHING,
}
const NO_FACTS = { decimals: null, symbol: null, name: null, supply: null }

const facts = (row: Row = {}) =>
  insertMints(opened.store, [
    {
      mint: MINT,
      token_program: 'spl_token',
      decimals: 6,
      supply: '1000000000',
      symbol: 'Bonk',
      name: 'Bonk the dog',
      metadata: 'metaplex',
      fetched_at: T,
      asked: 1,
      ask_again_at: null,
      version: '1',
      ...row,
    },
  ])
const solPrice = (usdE9: bigint) =>
  insertSolPrices(opened.store, 'pool', [{ time: NOW - 10, usdE9 }])

/** A swap of 2 tokens for 0.5 SOL that ended so many seconds ago. */
const swap = (ago: number, rest: Row = {}) =>
  aSwapRow(100_000 - ago, { base_amount: '2000000', ...rest })

test.serial('a mint that nobody traded has nulls and zeros, and costs as much', async (t) => {
  const { api, get } = await start(t)
  const none = { token: { address: MINT, ...NO_FACTS }, ...UNKNOWN }
  t.deepEqual((await get()).body, { ...none, as_of: null })
  await api.writer.moveTo(100_000)
  const answer = await get()
  t.deepEqual(answer.body, none)
  t.deepEqual(creditsOf(answer), ['3', '994'])
})

test.serial(
  'a token has its facts, the price of its newest swap, its holders, and what was traded in an hour and a day',
  async (t) => {
    await facts()
    await solPrice(150_000_000_000n)
    const swaps = [
      swap(0),
      swap(3599, { wallet: 2, side: 'sell', value_lamports: '250000000' }),
      swap(3600, { wallet: 3, tx_index: 1 }),
      swap(3600, { wallet: 3, tx_index: 2, value_lamports: null, quote_mismatch: true }),
      swap(86_399, { wallet: 2 }),
      swap(86_400, { wallet: 4 }),
      // Stored later than the marker, deleted, and stored twice.
      swap(-1, { wallet: 5, value_lamports: '9000000000' }),
      swap(50, { wallet: 6 }),
    ]
    await opened.store.insert('swaps', swaps)
    await opened.store.insert('swaps', [
      swap(0),
      swap(50, { wallet: 6, is_deleted: 1, version: 1 }),
    ])
    await opened.store.insert('positions', [
      aPositionRow(1, MINT, { bought_amount: '30000000', first_buy_time: T + 700 }),
      aPositionRow(2, MINT, { bought_amount: '20000000', sold_amount: '5000000' }),
      aPositionRow(2, MINT, { bought_amount: '1', version: '0' }),
      aPositionRow(3, MINT, { sold_amount: '10000000', sells: '1', first_buy_time: T + 7 }),
      aPositionRow(4, MINT, { is_deleted: 1, first_buy_time: T + 1 }),
      aPositionRow(5, MINT, { buys: '0', bought_amount: '0', first_buy_time: null }),
      aPositionRow(6, 'another', { first_buy_time: T + 2 }),
    ])
    const { api, get } = await start(t)
    await api.writer.moveTo(100_000)
    t.deepEqual((await get()).body, {
      token: {
        address: MINT,
        decimals: 6,
        symbol: 'Bonk',
        name: 'Bonk the dog',
        supply: '1000000000',
      },
      as_of: NOW,
      price_sol: 0.25,
      price_usd: 37.5,
      price_source: 'swap',
      price_age_seconds: 0,
      market_cap_usd: 37_500, // 1000 tokens
      holders: 2,
      holders_pct: 4.5, // 30 + 15 of 1000 tokens
      first_buy_at: T + 7,
      last_1h: { buys: 1, sells: 1, volume_sol: 0.75, wallets: 2 },
      last_24h: { buys: 4, sells: 1, volume_sol: 1.75, wallets: 3 },
    })
    // A pool goes before a swap. One whole token costs 30 USDC, at 150 USD 0.2 SOL.
    await insertPoolStates(opened.store, [
      {
        at: NOW - 40,
        mint: MINT,
        pool: 'pool',
        slot: 1,
        quoteMint: USDC,
        quoteReserve: 1n,
        price: { quote: 60n, base: 2n },
      },
    ])
    await api.writer.moveTo(100_001)
    const { body } = await get()
    t.like(body, {
      price_sol: 0.2,
      price_usd: 30,
      price_source: 'pool',
      price_age_seconds: 41,
      market_cap_usd: 30_000,
      // A second later the sell is an hour old.
      last_1h: { buys: 2, sells: 0, volume_sol: 9.5, wallets: 2 },
    })
  },
)

test.serial(
  'with a salt, times and values are served ones, and prices have three digits',
  async (t) => {
    await facts({ supply: '1234567891' })
    await solPrice(151_234_567_891n)
    const perturb = createPerturb('salt')
    const row = swap(100, { value_lamports: '123456789' })
    const served = serveSwap(
      {
        slot: 99_900,
        txIndex: 0,
        wallet: 1,
        eventIndex: 0,
        blockTime: NOW - 100,
        baseAmount: 2_000_000n,
        quoteAmount: 0n,
        valueLamports: 123_456_789n,
      },
      perturb,
    )
    // Served more than an hour ago, though it happened within it.
    const old = swap(3598, { wallet: 2, value_lamports: '1000' })
    await opened.store.insert('swaps', [row, old])
    await opened.store.insert('positions', [
      aPositionRow(1, MINT, { served_bought_amount: '11000000', served_first_buy_time: T + 3 }),
    ])
    const { api, get } = await start(t, 'salt')
    await api.writer.moveTo(100_000)
    const { body } = await get()
    t.like(body, {
      price_sol: 0.0617, // 0.0617283945
      price_usd: 9.34, // 9.33546...
      market_cap_usd: 11_500, // 11525.3...
      price_age_seconds: NOW - served.blockTime,
      holders: 1,
      first_buy_at: T + 3,
      last_1h: {
        buys: 1,
        sells: 0,
        volume_sol: Number(served.valueLamports) / 1e9,
        wallets: 1,
      },
    })
    t.like(body, { last_24h: { buys: 2, wallets: 2 } })
  },
)
