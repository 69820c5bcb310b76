import test from 'ava'
import fc from 'fast-check'
import { USDC, WSOL } from '../../pipeline/domain/quote.ts'
import type { Store } from '../../pipeline/store/store.ts'
import type { HeldPositionRow } from '../../pipeline/store/tables/positions.ts'
import { createCursorCodec } from '../cursor.ts'
import { walletHoldingItem } from '../items/holding.ts'
import { WalletHoldingsText } from '../items/wallet-holdings-text.ts'
import { digestOf } from '../rendered-answer.ts'
import { ask, creditsOf } from '../testing/ask.ts'
import { cursorKeys } from '../testing/cursor-keys.ts'
import { openStore, type TestStore } from '../testing/open-stores.ts'
import { aPositionRow, aSwapRow, insertWallets, MINT, markStored } from '../testing/rows.ts'
import { startApi, type TestApi } from '../testing/start-api.ts'

/*
 * Whole responses of the endpoints of tokens and holdings (contract 4.1, 4.2). The newest stored
 * slot is 1000, with block time 1700001000.
 */

const JUP = 'JUPyiwrYJFskUPiHa7hkeR8VUtAeFoSYbKedZNsDvCN'
const WIF = 'EKpQGSJtjMFqKZ9KQanSqYXRcF8fBopzLHYxdM65zcjm'
const NOBODYS = 'HZ1JovNiVvGrGNiiYvEozEVgZ58xaU3RKwX8eACQBCt3'
const T = 1_700_000_000
/**
 * 999999999.123456 tokens at 0.500000001 SOL of 150.123456789 USD for 3 tokens, by exact fractions.
 */
const ENTRY_MCAP = 25020576159.609516

const codec = createCursorCodec(cursorKeys(7))
let opened: TestStore
let store: Store
let api: TestApi
let key: string

test.before(async () => {
  opened = await openStore()
  store = opened.store
  await insertWallets(store, 12)
  await store.insert('positions', [
    // A position bought and sold with several quote coins. The wallet still holds 4 of 10.
    aPositionRow(2, MINT, {
      buys: '3',
      sells: '2',
      bought_amount: '10000000',
      sold_amount: '6000000',
      bought_lamports: '1234567891',
      sold_lamports: '2000000001',
      first_buy_time: T + 100,
      first_trade_time: T + 90,
      last_trade_time: T + 800,
    }),
    // Only sold, after an incoming transfer.
    aPositionRow(1, MINT, {
      buys: '0',
      sells: '1',
      bought_amount: '0',
      sold_amount: '7',
      bought_lamports: '0',
      sold_lamports: '5',
      first_buy_time: null,
      first_trade_time: T + 50,
      last_trade_time: T + 50,
    }),
    // Sold more than bought.
    aPositionRow(10, MINT, {
      sells: '1',
      sold_amount: '10000001',
      sold_lamports: '340282366920938463463374607431768',
      first_buy_time: T + 100,
      first_trade_time: T + 100,
      last_trade_time: T + 900,
    }),
    // Only received by transfer: no trade.
    aPositionRow(3, MINT, {
      buys: '0',
      bought_amount: '0',
      bought_lamports: '0',
      first_buy_time: null,
      first_trade_time: null,
      last_trade_time: null,
    }),
    aPositionRow(12, MINT, {
      bought_amount: '340282366920938463463374607431768211455',
      first_buy_time: T + 20,
      first_trade_time: T + 20,
      last_trade_time: T + 800,
    }),
    // Three wallets hold JUP, for 3 SOL together. Two hold WIF, for 4 SOL together. Two hold MINT,
    // for less.
    aPositionRow(10, JUP, { decimals: 0, bought_amount: '3', bought_lamports: '1000000000' }),
    aPositionRow(2, JUP, { decimals: 0, bought_amount: '5', bought_lamports: '1000000000' }),
    aPositionRow(5, JUP, {
      decimals: 0,
      bought_amount: '9',
      sold_amount: '8',
      bought_lamports: '1000000000',
      last_trade_time: T + 800,
    }),
    aPositionRow(4, WIF),
    aPositionRow(6, WIF, { version: '1', bought_amount: '9' }),
    // The first position was deleted by a later fold; the second is beyond the newest stored slot.
    aPositionRow(7, WIF, { version: '1' }),
    aPositionRow(8, WIF, { first_trade_time: T + 1001, last_trade_time: T + 1001 }),
  ])
  await store.insert('positions', [
    aPositionRow(6, WIF, { version: '2' }),
    aPositionRow(7, WIF, { version: '2', is_deleted: 1 }),
  ])
  const firstBuy = {
    mint: MINT,
    slot: 100,
    tx_index: 0,
    event_index: 0,
    block_time: T,
    version: '1',
  }
  const valued = { amount: '3000000', value_lamports: '500000001' }
  await store.insert('first_buys', [
    { ...firstBuy, ...valued, wallet: 2, sol_price_usd_e9: '150123456789' },
    { ...firstBuy, ...valued, wallet: 12, sol_price_usd_e9: null },
    { ...firstBuy, ...valued, wallet: 10, value_lamports: null, sol_price_usd_e9: '1' },
    { ...firstBuy, ...valued, wallet: 1, sol_price_usd_e9: '1' },
  ])
  // An older version of the first buy of wallet 2 is stored later; that of wallet 1 is deleted.
  await store.insert('first_buys', [
    { ...firstBuy, ...valued, wallet: 2, sol_price_usd_e9: '1', version: '0' },
    { ...firstBuy, ...valued, wallet: 1, sol_price_usd_e9: '1', version: '2', is_deleted: 1 },
  ])
  await store.insert('mints', [
    {
      mint: MINT,
      token_program: 'spl_token',
      decimals: 6,
      supply: '999999999123456',
      symbol: 'Bonk',
      name: 'Bonk',
      metadata: 'metaplex',
      fetched_at: T,
      asked: 1,
      version: '1',
    },
  ])
  await store.insert('swaps', [
    aSwapRow(10, { wallet: 2 }),
    aSwapRow(11, { wallet: 2, base_mint: JUP }),
    aSwapRow(12, {
      wallet: 1,
      side: 'sell',
      quote_mint: USDC,
      quote_amount: '7',
      value_lamports: '46667',
    }),
    aSwapRow(12, {
      wallet: 2,
      quote_mint: null,
      quote_amount: '0',
      quote_mismatch: true,
      value_lamports: null,
    }),
    aSwapRow(12, { wallet: 3, confidence: 'delta_only', program: 'unknown' }),
    aSwapRow(1001, { wallet: 2 }),
  ])
  await markStored(store, 1000)
  api = await startApi(store)
  key = (await api.customer(10_000)).key
})
test.after.always(async () => {
  await api.close()
  await opened.remove()
})

const get = (path: string) => ask(api, path, key)

test.serial(
  'swaps of a token come newest first, none beyond the storage marker (contract 4.1)',
  async (t) => {
    const { status, body, ...rest } = await get(`/tokens/${MINT}/swaps`)
    t.is(status, 200)
    t.is(creditsOf({ status, body, ...rest })[0], '3')
    const base = { base_mint: MINT, base_amount: '5', base_decimals: 6, symbol: 'Bonk' }
    const half = { sol_value: 0.5, price_sol: 100_000 }
    const plain = { confidence: 'high', quote_mismatch: false, program: 'pumpswap' }
    const sol = { quote_mint: WSOL, quote_amount: '500000000' }
    t.deepEqual(body as unknown, {
      mint: MINT,
      count: 4,
      limit: 100,
      has_more: false,
      next_cursor: null,
      items: [
        {
          block_time: T + 12,
          wallet: 'W3',
          side: 'buy',
          ...base,
          ...sol,
          ...half,
          ...plain,
          program: 'unknown',
          confidence: 'delta_only',
        },
        {
          block_time: T + 12,
          wallet: 'W2',
          side: 'buy',
          ...base,
          ...plain,
          sol_value: null,
          price_sol: null,
          quote_mint: WSOL,
          quote_amount: '0',
          quote_mismatch: true,
        },
        {
          block_time: T + 12,
          wallet: 'W1',
          side: 'sell',
          ...base,
          ...plain,
          sol_value: 0.000046667,
          price_sol: 9.3334,
          quote_mint: USDC,
          quote_amount: '7',
        },
        { block_time: T + 10, wallet: 'W2', side: 'buy', ...base, ...sol, ...half, ...plain },
      ],
    })
    const first = await get(`/tokens/${MINT}/swaps?limit=3`)
    t.deepEqual(first.body.items, body.items.slice(0, 3))
    t.like(first.body, { count: 3, limit: 3, has_more: true })
    const second = await get(`/tokens/${MINT}/swaps?limit=3&cursor=${first.body.next_cursor}`)
    t.deepEqual(second.body.items, body.items.slice(3))
    t.like(second.body, { has_more: false, next_cursor: null })
    t.deepEqual((await get(`/tokens/${NOBODYS}/swaps`)).body as unknown, {
      mint: NOBODYS,
      count: 0,
      limit: 100,
      has_more: false,
      next_cursor: null,
      items: [],
    })
  },
)

test.serial(
  'aggregates have one row per wallet that swapped the token, by first buy (contract 2.3, rules C14, C17)',
  async (t) => {
    const answer = await get(`/tokens/${MINT}/wallet-aggregates`)
    t.is(creditsOf(answer)[0], '3')
    t.deepEqual(answer.body as unknown, {
      mint: MINT,
      tracked_wallets: 4,
      wallets: [
        {
          wallet: 'W12',
          alias: 'W12',
          buys: 1,
          sells: 0,
          base_bought: '340282366920938463463374607431768211455',
          base_sold: '0',
          base_net: '340282366920938463463374607431768211455',
          sol_in: 2,
          sol_out: 0,
          pct_held: 1,
          first_buy_time: T + 20,
          last_trade_time: T + 800,
          entry_mcap: null,
        },
        {
          wallet: 'W2',
          alias: 'W2',
          buys: 3,
          sells: 2,
          base_bought: '10000000',
          base_sold: '6000000',
          base_net: '4000000',
          sol_in: 1.234567891,
          sol_out: 2.000000001,
          pct_held: 0.4,
          first_buy_time: T + 100,
          last_trade_time: T + 800,
          entry_mcap: ENTRY_MCAP,
        },
        {
          wallet: 'W10',
          alias: 'W10',
          buys: 1,
          sells: 1,
          base_bought: '10000000',
          base_sold: '10000001',
          base_net: '-1',
          sol_in: 2,
          sol_out: 3.402823669209385e23,
          pct_held: 0,
          first_buy_time: T + 100,
          last_trade_time: T + 900,
          entry_mcap: null,
        },
        {
          wallet: 'W1',
          alias: 'W1',
          buys: 0,
          sells: 1,
          base_bought: '0',
          base_sold: '7',
          base_net: '-7',
          sol_in: 0,
          sol_out: 5e-9,
          pct_held: 0,
          first_buy_time: null,
          last_trade_time: T + 50,
          entry_mcap: null,
        },
      ],
    })
    t.deepEqual((await get(`/tokens/${NOBODYS}/wallet-aggregates`)).body as unknown, {
      mint: NOBODYS,
      tracked_wallets: 0,
      wallets: [],
    })
  },
)

test.serial(
  'held tokens come by holders, then SOL spent, then mint (contract 2.4, rules C14, C17)',
  async (t) => {
    const jup = {
      token: { address: JUP, decimals: 0 },
      holders: { wallet_count: 3, wallets: ['W2', 'W5', 'W10'] },
      aggregate: { tokens_held: 9, sol_invested: 3 },
    }
    const wif = {
      token: { address: WIF, decimals: 6 },
      holders: { wallet_count: 2, wallets: ['W4', 'W6'] },
      aggregate: { tokens_held: 20, sol_invested: 4 },
    }
    const mint = {
      token: { address: MINT, decimals: 6 },
      holders: { wallet_count: 2, wallets: ['W2', 'W12'] },
      aggregate: {
        tokens_held: Number('340282366920938463463374607431772.211455'),
        sol_invested: 3.234567891,
      },
    }
    const answer = await get('/tokens/held')
    t.is(creditsOf(answer)[0], '3')
    const head = { min_wallets: 2, page: 1, page_size: 25, total: 3, has_more: false }
    t.deepEqual(answer.body as unknown, { ...head, items: [jup, wif, mint] })
    t.deepEqual((await get('/tokens/held?min_wallets=3')).body as unknown, {
      ...head,
      min_wallets: 3,
      total: 1,
      items: [jup],
    })
    t.deepEqual((await get('/tokens/held?min_wallets=10000')).body as unknown, {
      ...head,
      min_wallets: 10_000,
      total: 0,
      items: [],
    })
    t.deepEqual((await get('/tokens/held?page=2')).body as unknown, { ...head, page: 2, items: [] })
  },
)

test.serial(
  'holdings come by newest trade, then mint, then wallet; ages end at the newest stored block (contract 2.6, rules C17, C22)',
  async (t) => {
    const of = (
      wallet: string,
      address: string,
      decimals: number,
      position: object,
      times: number[],
    ) => {
      const [first_activity_at = 0, last_activity_at = 0] = times.map((time) => T + time)
      return {
        wallet,
        token: { address, decimals },
        position,
        timing: { first_activity_at, last_activity_at, holding_time: T + 1000 - first_activity_at },
      }
    }
    const wif = {
      sol_bought: 2,
      sol_sold: 0,
      tokens_acquired: 10,
      tokens_sold: 0,
      tokens_held: 10,
      pct_held: 1,
    }
    const huge = Number('340282366920938463463374607431768.211455')
    const all = [
      of(
        ...(['W2', MINT, 6] as const),
        {
          sol_bought: 1.234567891,
          sol_sold: 2.000000001,
          tokens_acquired: 10,
          tokens_sold: 6,
          tokens_held: 4,
          pct_held: 0.4,
        },
        [90, 800],
      ),
      of(
        ...(['W12', MINT, 6] as const),
        { ...wif, tokens_acquired: huge, tokens_held: huge },
        [20, 800],
      ),
      of(
        ...(['W5', JUP, 0] as const),
        {
          sol_bought: 1,
          sol_sold: 0,
          tokens_acquired: 9,
          tokens_sold: 8,
          tokens_held: 1,
          pct_held: 1 / 9,
        },
        [10, 800],
      ),
      of('W4', WIF, 6, wif, [10, 10]),
      of('W6', WIF, 6, wif, [10, 10]),
      of(
        ...(['W2', JUP, 0] as const),
        { ...wif, sol_bought: 1, tokens_acquired: 5, tokens_held: 5 },
        [10, 10],
      ),
      of(
        ...(['W10', JUP, 0] as const),
        { ...wif, sol_bought: 1, tokens_acquired: 3, tokens_held: 3 },
        [10, 10],
      ),
    ]
    const head = {
      alias: null,
      min_holding_seconds: 0,
      max_holding_seconds: null,
      page: 1,
      page_size: 100,
      total: 7,
      has_more: false,
    }
    const answer = await get('/wallets/holdings')
    t.is(creditsOf(answer)[0], '1')
    t.deepEqual(answer.body as unknown, { ...head, items: all })
    const only = async (query: string) => (await get(`/wallets/holdings?${query}`)).body as unknown
    t.deepEqual(await only('alias=W2'), {
      ...head,
      alias: 'W2',
      total: 2,
      items: [all[0], all[5]],
    })
    t.deepEqual(await only('alias=W11'), { ...head, alias: 'W11', total: 0, items: [] })
    // Bounds are inclusive.
    t.deepEqual(await only('min_holding_seconds=910&max_holding_seconds=980'), {
      ...head,
      min_holding_seconds: 910,
      max_holding_seconds: 980,
      total: 2,
      items: [all[0], all[1]],
    })
    t.deepEqual(await only('min_holding_seconds=911&max_holding_seconds=979'), {
      ...head,
      min_holding_seconds: 911,
      max_holding_seconds: 979,
      total: 0,
      items: [],
    })
    t.deepEqual(await only('min_holding_seconds=9999999999'), {
      ...head,
      min_holding_seconds: 9_999_999_999,
      total: 0,
      items: [],
    })
    t.deepEqual(await only('page=2'), { ...head, page: 2, items: [] })

    const one = await get('/wallets/W2/holdings')
    t.is(creditsOf(one)[0], '1')
    t.deepEqual(one.body as unknown, {
      wallet: 'W2',
      tokens: [
        {
          token: { address: MINT, decimals: 6 },
          position: { balance: 4, tokens_acquired: 10, tokens_held: 4, sol_invested: 1.234567891 },
          timing: all[0]?.timing,
        },
        {
          token: { address: JUP, decimals: 0 },
          position: { balance: 5, tokens_acquired: 5, tokens_held: 5, sol_invested: 1 },
          timing: all[5]?.timing,
        },
      ],
    })
    t.deepEqual((await get('/wallets/W11/holdings')).body as unknown, { wallet: 'W11', tokens: [] })
  },
)

test.serial('long lists are split into consecutive pages', async (t) => {
  const mints = [...'123456789ABCDEFGHJKLMNPQRSTUV'].map((letter) => NOBODYS.slice(0, -1) + letter)
  const rows = (slot: number) =>
    mints.flatMap((mint) =>
      [1, 2, 3, 4].map((wallet) => aPositionRow(wallet, mint, { last_trade_time: T + slot })),
    )
  await api.writer.insert('positions', rows(999))
  await api.writer.moveTo(1001)
  const held = [
    (await get('/tokens/held?min_wallets=4')).body,
    (await get('/tokens/held?min_wallets=4&page=2')).body,
  ]
  t.deepEqual(
    held.flatMap(({ items }) => items.map(({ token }) => (token as { address: string }).address)),
    mints,
  )
  t.deepEqual(
    held.map(({ total, has_more, items }) => [total, has_more, items.length]),
    [
      [29, true, 25],
      [29, false, 4],
    ],
  )
  const pages = [
    (await get('/wallets/holdings?max_holding_seconds=991&min_holding_seconds=991')).body,
    (await get('/wallets/holdings?max_holding_seconds=991&min_holding_seconds=991&page=2')).body,
  ]
  t.deepEqual(
    pages.map(({ total, has_more, items }) => [total, has_more, items.length]),
    [
      [121, true, 100],
      [121, false, 21],
    ],
  )
  t.deepEqual(
    pages
      .flatMap(({ items }) => items)
      .slice(0, 116)
      .map(({ wallet, token }) => `${(token as { address: string }).address} ${wallet}`),
    mints.flatMap((mint) => ['W1', 'W2', 'W3', 'W4'].map((wallet) => `${mint} ${wallet}`)),
  )
})

test.serial('invalid mints, aliases, bounds and cursors are refused (rules D2, D4)', async (t) => {
  const at = { slot: 11, txIndex: 0, wallet: 1, eventIndex: 0 }
  const own = codec.encode(`swaps:${MINT}`, at)
  const table: [string, number, string, string?][] = [
    ['/tokens/x/swaps', 400, 'invalid_parameter', 'mint'],
    [`/tokens/${MINT}x/swaps`, 400, 'invalid_parameter', 'mint'],
    [`/tokens/${MINT.replace('D', '0')}/swaps`, 400, 'invalid_parameter', 'mint'],
    ['/tokens/%ff/wallet-aggregates', 400, 'invalid_parameter', 'mint'],
    [`/tokens/${'1'.repeat(31)}/wallet-aggregates`, 400, 'invalid_parameter', 'mint'],
    [`/tokens/${MINT}/swaps?limit=0`, 400, 'invalid_parameter', 'limit'],
    [`/tokens/${MINT}/swaps?limit=201`, 400, 'invalid_parameter', 'limit'],
    [`/tokens/${MINT}/swaps?cursor=`, 400, 'invalid_cursor', 'cursor'],
    [`/tokens/${MINT}/swaps?cursor=${own.slice(0, -1)}`, 400, 'invalid_cursor', 'cursor'],
    [`/tokens/${MINT}/swaps?cursor=${own}&cursor=${own}`, 400, 'invalid_cursor', 'cursor'],
    [`/tokens/${JUP}/swaps?cursor=${own}`, 400, 'invalid_cursor', 'cursor'],
    [`/trades?cursor=${own}`, 400, 'invalid_cursor', 'cursor'],
    [
      ...([`/tokens/${MINT}/swaps?cursor=${codec.encode('trades', at)}`, 400] as const),
      ...(['invalid_cursor', 'cursor'] as const),
    ],
    ['/tokens/held?min_wallets=0', 400, 'invalid_parameter', 'min_wallets'],
    ['/tokens/held?min_wallets=10001', 400, 'invalid_parameter', 'min_wallets'],
    ['/tokens/held?page=0', 400, 'invalid_parameter', 'page'],
    ['/wallets/holdings?alias=', 400, 'invalid_parameter', 'alias'],
    ['/wallets/holdings?alias=W1&alias=W2', 400, 'invalid_parameter', 'alias'],
    ['/wallets/holdings?min_holding_seconds=-1', 400, 'invalid_parameter', 'min_holding_seconds'],
    ['/wallets/holdings?max_holding_seconds=', 400, 'invalid_parameter', 'max_holding_seconds'],
    [
      ...(['/wallets/holdings?min_holding_seconds=2&max_holding_seconds=1', 400] as const),
      ...(['invalid_parameter', 'max_holding_seconds'] as const),
    ],
    ['/wallets/holdings?alias=W13', 404, 'wallet_not_found'],
    ['/wallets/holdings?alias=x&page=0', 400, 'invalid_parameter', 'page'],
    ['/wallets/holdings?alias=x', 404, 'wallet_not_found'],
    ['/wallets/W13/holdings', 404, 'wallet_not_found'],
    ['/wallets/w1/holdings', 404, 'wallet_not_found'],
    ['/tokens', 404, 'not_found'],
    [`/tokens/${MINT}/holders`, 404, 'not_found'],
  ]
  for (const [path, status, code, name] of table) {
    const answer = await get(path)
    t.deepEqual([answer.status, answer.body.code], [status, code], path)
    t.deepEqual(
      (answer.body.errors as { name: string }[] | undefined)?.map(({ name }) => name),
      name === undefined ? undefined : [name],
      path,
    )
    if (code !== 'not_found') t.is(creditsOf(answer)[0], '0', path)
  }
})

test('the cached text of holdings is what the rows render to, whatever rows change, leave or age', (t) => {
  const aRow = fc.record({
    mint: fc.constantFrom(MINT, JUP, WIF),
    decimals: fc.nat({ max: 9 }),
    bought_amount: fc.bigInt({ min: 1n, max: 2n ** 128n - 1n }).map(String),
    bought_lamports: fc.bigInt({ min: 0n, max: 2n ** 100n }).map(String),
    first_trade_time: fc.oneof(
      fc.nat({ max: T }),
      fc.nat({ max: 20 }).map((ago) => T - ago),
    ),
  })
  const lists = fc.array(fc.array(aRow, { maxLength: 4 }), { minLength: 4, maxLength: 4 })
  fc.assert(
    fc.property(
      lists,
      fc.integer({ min: 1, max: 2000 }),
      fc.array(fc.nat({ max: 7 })),
      (some, maxBytes, requests) => {
        let held: HeldPositionRow[] = []
        let marker = 0
        const texts = new WalletHoldingsText(
          {
            get marker() {
              return marker
            },
            ofWallet: () => Uint32Array.from(held, (row) => all.indexOf(row)),
            row: (at) => all[at]!,
            firstTradeTime: (at) => all[at]!.first_trade_time,
            changedAt: () => 0,
          },
          maxBytes,
        )
        const rows: HeldPositionRow[][] = some.map((list) =>
          list.map((row) => ({
            ...row,
            wallet: 1,
            sold_amount: '0',
            sold_lamports: '0',
            last_trade_time: T,
          })),
        )
        const all = rows.flat()
        // Two wallets, whose lists change and share rows; ages of one and of more digits.
        for (const [at, which] of requests.entries()) {
          const wallet = 1 + (which % 2)
          held = [...(rows[which >> 1] ?? []), ...(rows[wallet] ?? [])]
          const isRight = () => {
            for (const now of [T + 9 ** at, T + 9 ** at + 1, T + 9 ** at + 5]) {
              marker++
              const tokens = held.map((row) => walletHoldingItem(row, now))
              const text = texts.render(wallet, now)
              t.is(text.bytes.toString(), JSON.stringify({ wallet: `W${wallet}`, tokens }))
              t.is(text.digest, digestOf(text.bytes))
              text.release()
            }
          }
          marker++
          const first = texts.render(wallet, T + 9 ** at)
          const sent = first.bytes.toString()
          isRight()
          t.is(first.bytes.toString(), sent, 'a text that is being sent is not overwritten')
          if (which % 3 === 0) continue // this response is never released
          first.release()
          isRight()
        }
      },
    ),
  )
})
