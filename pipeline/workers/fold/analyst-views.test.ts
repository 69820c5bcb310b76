import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { createClient } from '@clickhouse/client'
import test from 'ava'
import fc from 'fast-check'
import { type Address, address } from '../../domain/address.ts'
import type { Swap, WalletEvent } from '../../domain/event.ts'
import { USDC, WSOL } from '../../domain/quote.ts'
import { FOLD_MODES, type FoldEvent, toFoldEvent } from '../../fold/fold-event.ts'
import { foldBalance, foldEvent } from '../../fold/fold-wallet.ts'
import { createWalletState, takeChanges } from '../../fold/wallet-state.ts'
import { analystDatabase, migrate } from '../../store/migrate.ts'
import { SQL_FOLDER } from '../../store/schema-files.ts'
import type { Row, Store } from '../../store/store.ts'
import { insertPoolStates } from '../../store/tables/pool-states.ts'
import { insertSolPrices } from '../../store/tables/sol-prices.ts'
import { aWatchedToken } from '../../testing/a-watched-token.ts'
import { aHistory } from '../../testing/histories.ts'
import { slowBooks, slowMatches } from '../../testing/slow-books.ts'
import { type SlowPriceInputs, slowTokenPrice } from '../../testing/slow-prices.ts'
import { slowEventsOf, slowPositions, slowProfitAt, slowWorth } from '../../testing/slow-profit.ts'
import { openTestChdb, openTestClickHouse, type TestStore } from '../../testing/test-store.ts'
import type { WatchEvent, WatchedToken } from '../../trending/watched-token.ts'
import { Roller } from '../rollups/roller.ts'
import { watchlistRow } from '../trending/trending-rows.ts'
import {
  disposalRow,
  firstBuyRow,
  lotRow,
  metricsRow,
  positionRow,
  profitHourRow,
} from './book-rows.ts'
import { makeEventIdKey } from './event-id-key.ts'
import { decodedRow, recordRow } from './event-rows.ts'

/*
 * The queries of docs/tables.md over a history of three wallets, with answers worked out by hand
 * (rules J9, K4). Rows are stored as the worker stores them and unmerged: every row also has
 * an older version, and some have tombstones. Runs on chDB, and as user `analyst` on
 * CLICKHOUSE_URL.
 */

const BONK = address('DezXAZ8z7PnrnRJjz3wXBoRgixCa6xjnB7YaB1pPB263')
const WIF = address('EKpQGSJtjMFqKZ9KQanSqYXRcF8fBopzLHYxdM65zcjm')
const SOL = 1_000_000_000n
const PRICE = 200n * SOL

/** Returns the unix seconds of a time on 10 or 11 January 2026, UTC. */
const at = (day: 10 | 11, time: string) => Date.parse(`2026-01-${day}T${time}Z`) / 1000

let place = 100
const key = (wallet: number, time: number) => {
  place += 1
  return { slot: place, txIndex: 3, wallet, eventIndex: 0, blockTime: time, signature: `s${place}` }
}
const swap = (
  wallet: number,
  time: number,
  side: Swap['side'],
  baseAmount: bigint,
  lamports: bigint,
  change: Partial<Swap> = {},
): Swap => ({
  kind: 'swap',
  ...key(wallet, time),
  side,
  baseMint: BONK,
  baseAmount,
  baseDecimals: 5,
  quoteMint: WSOL,
  quoteAmount: lamports,
  program: 'pumpswap',
  programId: WIF,
  pool: WIF,
  confidence: 'high',
  quoteMismatch: false,
  feeLamports: 0n,
  solPriceUsdE9: PRICE,
  ...change,
})
const inUsdc = { baseMint: WIF, baseDecimals: 6, quoteMint: USDC }

const HISTORY: WalletEvent[] = [
  swap(1, at(10, '12:00:00'), 'buy', 1000n, 2n * SOL),
  swap(2, at(10, '12:00:30'), 'buy', 400n, SOL),
  swap(1, at(10, '12:10:00'), 'buy', 3000n, 9n * SOL),
  swap(3, at(10, '12:20:00'), 'buy', 1000n, 4n * SOL),
  // Ten seconds later, at a loss of 1 SOL.
  swap(3, at(10, '12:20:10'), 'sell', 1000n, 3n * SOL, {
    program: 'unknown',
    confidence: 'delta_only',
  }),
  {
    kind: 'token_transfer',
    ...key(1, at(10, '12:30:00')),
    direction: 'in',
    mint: BONK,
    amount: 500n,
    decimals: 5,
  },
  // 1000 bought for 2 SOL, sold for 4; 1000 of 3000 bought for 9 SOL, sold for 4: 3 SOL profit.
  swap(1, at(10, '13:00:00'), 'sell', 2000n, 8n * SOL),
  // 2000 bought for 6 SOL, sold for 4; 500 received by transfer, sold for 1: a loss of 1 SOL.
  swap(1, at(11, '09:00:00'), 'sell', 2500n, 5n * SOL),
  // 600 USDC at 200 USD: 3 SOL.
  swap(1, at(11, '10:00:00'), 'buy', 10_000n, 600_000_000n, inUsdc),
  {
    kind: 'sol_transfer',
    ...key(2, at(11, '11:00:00')),
    direction: 'in',
    lamports: 20n * SOL,
  },
  // A quarter of a lot that cost 1 SOL.
  {
    kind: 'token_transfer',
    ...key(2, at(11, '11:30:00')),
    direction: 'out',
    mint: BONK,
    amount: 100n,
    decimals: 5,
  },
  {
    kind: 'sol_transfer',
    ...key(3, at(11, '11:30:00')),
    direction: 'out',
    lamports: 5n * SOL,
  },
  swap(2, at(11, '12:00:00'), 'buy', 2000n, 50_000_000n, {
    ...inUsdc,
    program: 'orca',
    solPriceUsdE9: null,
  }),
]

/** The answers by the headings of docs/tables.md. Integers of 64 bits and more are text. */
const ANSWERS: Record<string, readonly object[]> = {
  'The tokens that most wallets traded': [
    {
      base_mint: BONK,
      wallets: '3',
      swaps: '7',
      since: '2026-01-10 12:00:00',
      until: '2026-01-11 09:00:00',
    },
    {
      base_mint: WIF,
      wallets: '2',
      swaps: '2',
      since: '2026-01-11 10:00:00',
      until: '2026-01-11 12:00:00',
    },
  ],
  'The swaps of one wallet': (
    [
      ['2026-01-10 12:00:00', 'buy', BONK, 0.01, 2],
      ['2026-01-10 12:10:00', 'buy', BONK, 0.03, 9],
      ['2026-01-10 13:00:00', 'sell', BONK, 0.02, 8],
      ['2026-01-11 09:00:00', 'sell', BONK, 0.025, 5],
      ['2026-01-11 10:00:00', 'buy', WIF, 0.01, 3],
    ] as const
  ).map(([block_time_utc, side, base_mint, base_tokens, value_sol]) => ({
    block_time_utc,
    side,
    base_mint,
    base_tokens,
    value_sol,
  })),
  'Realised profit by wallet and day': [
    { wallet: 'W1', day: '2026-01-10', profit_sol: 3 },
    { wallet: 'W3', day: '2026-01-10', profit_sol: -1 },
    { wallet: 'W1', day: '2026-01-11', profit_sol: -1 },
  ],
  'The matches of one sell, lot by lot': [
    {
      bought_at: '2026-01-10 12:10:00',
      lot_origin: 'buy',
      amount: '2000',
      cost_lamports: '6000000000',
      proceeds_lamports: '4000000000',
      profit_lamports: '-2000000000',
    },
    {
      bought_at: '2026-01-10 12:30:00',
      lot_origin: 'transfer',
      amount: '500',
      cost_lamports: '0',
      proceeds_lamports: '1000000000',
      profit_lamports: '1000000000',
    },
  ],
  'A position at a past time': [
    {
      wallet: 'W1',
      mint: BONK,
      open_amount: '2500',
      open_cost_lamports: '6000000000',
      realized_lamports: '3000000000',
    },
    {
      wallet: 'W2',
      mint: BONK,
      open_amount: '400',
      open_cost_lamports: '1000000000',
      realized_lamports: '0',
    },
    {
      wallet: 'W3',
      mint: BONK,
      open_amount: '0',
      open_cost_lamports: '0',
      realized_lamports: '-1000000000',
    },
  ],
  // Lots of 1000 and 3000 units less the 2000 that were sold; W3 had paid 0.004 SOL a unit.
  "What a wallet's positions were worth": [
    {
      mint: BONK,
      open_amount: '2000',
      open_cost_sol: 6,
      realized_sol: 3,
      value_sol: 8,
      unrealized_sol: 2,
      price_source: 'swap',
    },
  ],
  'The equity curve of a wallet': [
    { day: '2026-01-10', realized_sol: 3, open_cost_sol: 6 },
    { day: '2026-01-11', realized_sol: 2, open_cost_sol: 3 },
  ],
  'Profit by hour, with transfers and by swaps alone': [
    { hour: '2026-01-10 12:00:00', volume_sol: 11, profit_sol: 0, strict_profit_sol: 0 },
    { hour: '2026-01-10 13:00:00', volume_sol: 8, profit_sol: 3, strict_profit_sol: 3 },
    // By swaps alone nothing covers 500 of the 2500 sold: 2000 bought for 6 SOL, sold for 4.
    { hour: '2026-01-11 09:00:00', volume_sol: 5, profit_sol: 2, strict_profit_sol: 1 },
    { hour: '2026-01-11 10:00:00', volume_sol: 3, profit_sol: 2, strict_profit_sol: 1 },
  ],
  'Holders of a token over time': [
    { hour: '2026-01-10 12:00:00', holders: '2' },
    { hour: '2026-01-10 13:00:00', holders: '2' },
    // W1 sold 500 that it had not bought.
    { hour: '2026-01-11 09:00:00', holders: '1' },
  ],
  'Tokens held by several wallets now': [{ mint: WIF, wallets: '2', sol_invested: 3 }],
  'Tokens that three or more wallets bought within an hour': [
    { mint: BONK, most_wallets: '3', hour_from: '2026-01-10 12:00:00' },
  ],
  'The parts of a score': [
    {
      // 200 x 2 SOL / 14 SOL; one token sold, with profit; 27200 s; 14 SOL in 3 buys; 25 SOL
      wallet: 'W1',
      status: 'review',
      score: null,
      profit_points: 400 / 14,
      winrate_points: 20,
      holding_points: 10,
      size_points: 10,
      trade_points: 0,
      balance_points: 2.5,
    },
    {
      wallet: 'W2',
      status: 'review',
      score: null,
      profit_points: 0,
      winrate_points: 0,
      holding_points: 0,
      size_points: 0,
      trade_points: 0,
      balance_points: 0,
    },
    {
      // 5 SOL
      wallet: 'W3',
      status: 'disqualified',
      score: 0,
      profit_points: -40,
      winrate_points: 0,
      holding_points: 0,
      size_points: 10,
      trade_points: 0,
      balance_points: 0,
    },
  ],
  'The win rate, recomputed': [
    { wallet: 'W1', winrate: 100, loserate: 0, stored: 100 },
    { wallet: 'W3', winrate: 0, loserate: 100, stored: 0 },
  ],
  'How long tokens are held': [
    { held: 'under a minute', matches: '1', wallets: '1', average_seconds: 10 },
    { held: 'under an hour', matches: '1', wallets: '1', average_seconds: 3000 },
    // 3600 s and 75000 s
    { held: 'under a day', matches: '2', wallets: '1', average_seconds: 39_300 },
  ],
  'SOL moved in and out, by hour': [{ hour: '2026-01-11 11:00:00', sol_in: 20, sol_out: 5 }],
  'Profit in USD': [
    // 3 SOL at 200 USD less 1 SOL at 250 USD
    { wallet: 'W1', profit_usd: 350 },
    { wallet: 'W3', profit_usd: -200 },
  ],
  // BONK was last traded at 5 SOL for 0.025 tokens, WIF at 3 SOL for 0.01.
  'Unrealised profit': [
    { wallet: 'W1', mint: WIF, priced_at: '2026-01-11 10:00:00', unrealized_sol: 0 },
    { wallet: 'W2', mint: BONK, priced_at: '2026-01-11 09:00:00', unrealized_sol: -0.15 },
    { wallet: 'W2', mint: WIF, priced_at: '2026-01-11 10:00:00', unrealized_sol: 0.6 },
  ],
  'Swaps without a value': [
    {
      wallet: 'W2',
      reason: 'no SOL price',
      swaps: '1',
      first_at: '2026-01-11 12:00:00',
      last_at: '2026-01-11 12:00:00',
    },
  ],
  'Entry market caps of a token': [
    // 10^7 x 2 SOL / 1000 x 200 USD
    {
      wallet: 'W1',
      bought_at: '2026-01-10 12:00:00',
      entry_mcap_usd: 4e6,
      symbol: 'Bonk',
    },
    {
      wallet: 'W2',
      bought_at: '2026-01-10 12:00:30',
      entry_mcap_usd: 5e6,
      symbol: 'Bonk',
    },
    {
      wallet: 'W3',
      bought_at: '2026-01-10 12:20:00',
      entry_mcap_usd: 8e6,
      symbol: 'Bonk',
    },
  ],
  'Buys and sells by venue': [
    { program: 'pumpswap', buys: '5', sells: '2', from_balances: '0' },
    { program: 'orca', buys: '1', sells: '0', from_balances: '0' },
    { program: 'unknown', buys: '0', sells: '1', from_balances: '1' },
  ],
  'How fresh storage is': [
    {
      stored_until: '2026-01-11 12:00:09',
      written_at: '2026-01-11 12:00:11.500',
      seconds_behind_when_written: '2',
    },
  ],
  'Which wallets are complete': [
    { wallet: 'W1', complete_since: '2026-01-10 11:00:00' },
    { wallet: 'W2', complete_since: '2026-01-10 12:00:00' },
    { wallet: 'W3', complete_since: null },
  ],
  'The watchlist as it was at a time': [
    {
      mint: BONK,
      symbol: 'Bonk',
      holders: '2',
      conviction: 40.1,
      multiple: 2.5,
      state: 'holding',
      entry: at(10, '12:01:00'),
    },
  ],
  'What became of tokens on the watchlist': [
    {
      mint: BONK,
      entry: at(10, '12:01:00'),
      entry_mcap: 20_000,
      peak_multiple: 2.5,
      seconds: '1740',
    },
    {
      mint: WIF,
      entry: at(10, '12:05:00'),
      entry_mcap: 30_000,
      peak_multiple: 1,
      seconds: '2700',
    },
  ],
  'How exact it is': [],
  'Swaps by venue, from the table': [
    { program: 'pumpswap', swaps: '7', sol: 32 },
    { program: 'orca', swaps: '1', sol: null },
    { program: 'unknown', swaps: '1', sol: 3 },
  ],
  'The newest swaps': [
    {
      time: '2026-01-11 12:00:00',
      wallet: 2,
      side: 'buy',
      base_mint: WIF,
      base_amount: '2000',
    },
    {
      time: '2026-01-11 10:00:00',
      wallet: 1,
      side: 'buy',
      base_mint: WIF,
      base_amount: '10000',
    },
    {
      time: '2026-01-11 09:00:00',
      wallet: 1,
      side: 'sell',
      base_mint: BONK,
      base_amount: '2500',
    },
  ],
  'The swaps of a wallet in order': [
    { time: '2026-01-10 12:20:00', side: 'buy', base_amount: '1000' },
    { time: '2026-01-10 12:20:10', side: 'sell', base_amount: '1000' },
  ],
  'The slot up to which storage is complete': [{ slot: '119' }],
}

/** Stores the books of a wallet after `events` as rows of `version`. */
async function storeBooks(
  store: Store,
  wallet: number,
  events: readonly FoldEvent[],
  version: bigint,
  balance: bigint | null = null,
): Promise<void> {
  const state = createWalletState(wallet)
  for (const event of events) foldEvent(state, event)
  if (balance !== null) foldBalance(state, { slot: 1, txIndex: 0, lamports: balance })
  const { lots, disposals, tokens, firstBuys, profitHours } = takeChanges(state)
  await store.insert(
    'lots',
    lots.map(({ mint, lot }) => lotRow(wallet, version, mint, lot)),
  )
  await store.insert(
    'disposals',
    disposals.map((disposal) => disposalRow(wallet, version, disposal)),
  )
  await store.insert(
    'positions',
    tokens.map((token) => positionRow(wallet, version, token)),
  )
  await store.insert(
    'first_buys',
    firstBuys.map((buy) => firstBuyRow(wallet, version, buy)),
  )
  await store.insert(
    'profit_hours',
    profitHours.map((hour) => profitHourRow(wallet, version, hour)),
  )
  await store.insert('wallet_metrics', [metricsRow(state, version, 1)])
}

async function storeHistory(store: Store): Promise<void> {
  const none = { ...HISTORY[0], slot: 50, baseAmount: 7n } as Swap // the first event is a swap
  const rows = [...HISTORY, none].flatMap((event) =>
    event.kind === 'swap' ? [{ ...recordRow(event), version: 0 }] : [],
  )
  // First versions without values, and a swap that is deleted later; then the true ones.
  await store.insert(
    'swaps',
    rows.map((row) => ({ ...row, value_lamports: null })),
  )
  await store.insert(
    'swaps',
    rows.map((row) => ({ ...row, version: 1, is_deleted: row === rows.at(-1) ? 1 : 0 })),
  )
  const transfers = HISTORY.flatMap((e) => (e.kind === 'token_transfer' ? [e] : []))
  const moves = HISTORY.flatMap((e) => (e.kind === 'sol_transfer' ? [e] : []))
  for (const _ of [1, 2]) {
    await store.insert(
      'transfers',
      transfers.map((transfer) => recordRow(transfer)),
    )
    await store.insert(
      'sol_transfers',
      moves.map((move) => recordRow(move)),
    )
  }
  for (const wallet of [1, 2, 3]) {
    const events = HISTORY.filter((e) => e.wallet === wallet).map(toFoldEvent)
    const balance = wallet === 1 ? 25n * SOL : wallet === 3 ? 5n * SOL : null
    for (let n = 1; n <= events.length; n += 1)
      await storeBooks(store, wallet, events.slice(0, n), BigInt(n), balance)
  }
  // Books of a token that a refold no longer has.
  const gone = { wallet: 1, mint: 'gone', slot: 9, tx_index: 0, event_index: 0 }
  const lot = { ...gone, block_time: 9, origin: 'buy', amount: 5, cost_lamports: 5, left_amount: 5 }
  await store.insert('lots', [{ ...lot, left_cost_lamports: 5, quick_sold_amount: 0, version: 1 }])
  await store.command(
    "INSERT INTO lots (wallet, mint, slot, tx_index, event_index, version, is_deleted) VALUES (1, 'gone', 9, 0, 0, 2, 1)",
  )
  const price = (time: number, source: string, usd: bigint) => ({
    time,
    source,
    usd_e9: usd * SOL,
  })
  await store.insert('sol_prices', [
    price(at(10, '12:00:00'), 'pool', 1n),
    price(at(10, '12:00:00'), 'file', 200n),
    price(at(11, '09:00:00'), 'pool', 250n),
    price(at(11, '09:00:01'), 'pool', 1n),
  ])
  await store.insert('mints', [
    {
      mint: BONK,
      token_program: 'spl_token',
      decimals: 5,
      supply: 10_000_000,
      symbol: 'Bonk',
      name: 'Bonk',
      metadata: 'metaplex',
      fetched_at: 1,
      asked: 1,
      ask_again_at: null,
      version: 1,
    },
  ])
  const watched = (
    event: WatchEvent,
    time: string,
    currentMcap: number,
    fields: Partial<WatchedToken> = {},
  ) =>
    watchlistRow({
      event,
      reasons: [],
      token: aWatchedToken({
        at: at(10, time),
        enteredAt: at(10, '12:01:00'),
        currentMcap,
        wallets: [1, 2],
        conviction: 40.06,
        multiple: 2.5,
        state: 'holding',
        ...fields,
      }),
    })
  const wif = { mint: WIF, enteredAt: at(10, '12:05:00') }
  await store.insert('watchlist', [
    watched('entered', '12:01:00', 20_000, { state: 'discovered', wallets: [1, 2, 3] }),
    watched('changed', '12:30:00', 60_000),
    watched('entered', '12:05:00', 30_000, wif),
  ])
  await store.insert('watchlist', [
    watched('changed', '12:30:00', 50_000),
    watched('left', '12:50:00', 15_000, wif),
  ])
  const marker = (partition: number, slot: number, time: number, inserted: string) => ({
    worker: 'fold',
    partition,
    partitions: 2,
    slot,
    parent: slot - 1,
    block_time: time,
    sol_price_time: null,
    sol_price_usd_e9: null,
    inserted_at: inserted,
  })
  const covered = (wallet: number, time: number, version: number) => ({
    wallet,
    since_slot: 1,
    since_time: time,
    version,
  })
  await store.insert('wallet_coverage', [
    covered(1, at(10, '12:00:00'), 1),
    covered(2, at(10, '12:00:00'), 1),
  ])
  await store.insert('wallet_coverage', [covered(1, at(10, '11:00:00'), 2)])
  await store.insert('progress', [
    marker(0, 120, at(11, '12:00:10'), '2026-01-11 12:00:11.500'),
    marker(1, 119, at(11, '12:00:09'), '2026-01-11 12:00:10.000'),
  ])
}

/** Titles and statements of the queries in docs/tables.md. */
const questions = [
  ...readFileSync(join(SQL_FOLDER, '../docs/tables.md'), 'utf8').matchAll(
    /^### (.*?)\n.*?^```sql\n(.*?)^```/gms,
  ),
].map(([, title = '', sql = '']) => ({ title, sql }))

test('every query of docs/tables.md has an answer', (t) => {
  t.deepEqual(
    questions.map(({ title }) => title),
    Object.keys(ANSWERS),
  )
})

/** Returns a query as an analyst runs it, with the name of the database filled in. */
type Ask = <T>(sql: string) => Promise<T[]>

function testViews(
  name: string,
  open: () => Promise<TestStore>,
  asAnalyst: (store: Store) => { ask: Ask; close(): Promise<void> },
): void {
  let opened: TestStore
  let ask: Ask
  let close: () => Promise<void> = async () => {}
  const tables = [
    'swaps',
    'lots',
    'disposals',
    'positions',
    'wallet_metrics',
    'first_buys',
    'profit_hours',
    'watchlist',
  ]
  test.serial.before(async () => {
    opened = await open()
    const { store } = opened
    await migrate(store)
    for (const table of tables) await store.command(`SYSTEM STOP MERGES ${table}`)
    await storeHistory(store)
    await new Roller(store, () => true).pass()
    await makeEventIdKey(store)
    const [own] = await store.query<{ name: string }>('SELECT currentDatabase() AS name')
    const analyst = asAnalyst(store)
    close = analyst.close
    ask = (sql) => analyst.ask(sql.replaceAll('analyst.', `${analystDatabase(own?.name ?? '')}.`))
  })
  test.after.always(async () => {
    await close()
    await opened?.remove()
  })

  for (const { title, sql } of questions)
    test.serial(`${name}: ${title}`, async (t) => {
      const run: Ask = sql.includes('analyst.') ? ask : opened.store.query
      t.deepEqual(await run(sql), [...(ANSWERS[title] ?? [{}])])
    })

  test.serial(`${name}: the check of exactness names a lost lamport`, async (t) => {
    const sql = questions.find(({ title }) => title === 'How exact it is')?.sql ?? ''
    await opened.store.command(
      'INSERT INTO disposals SELECT * REPLACE (cost_lamports - 1 AS cost_lamports, version + 1 AS version) FROM disposals FINAL WHERE wallet = 2',
    )
    const found = await ask<{ wallet: string; mint: string; cost_went: string }>(sql)
    t.deepEqual(
      found.map(({ wallet, mint, cost_went }) => [wallet, mint, cost_went]),
      [['W2', BONK, '249999999']],
    )
  })

  test.serial(
    `${name}: a position at any past time is what a slow way finds in the events until then (rules K4, L14)`,
    async (t) => {
      const { store } = opened
      for (const table of ['lots', 'disposals', 'positions', 'profit_hours'])
        await store.command(`TRUNCATE TABLE ${table}`)
      const seed = Date.now() % 1_000_000
      const histories = fc.sample(aHistory, { numRuns: 12, seed })
      for (const [wallet, events] of histories.entries())
        for (const [version, until] of [events.length >> 1, events.length].entries())
          await storeBooks(store, wallet, events.slice(0, until), BigInt(version))
      const times = histories.flatMap((events) => events.map((event) => event.blockTime))
      for (const time of fc.sample(fc.constantFrom(0, ...times), { numRuns: 12, seed })) {
        const expected = histories.flatMap((history, wallet) => {
          const events = history.filter((e) => e.blockTime <= time && e.mint !== '')
          const came = events.filter((e) => e.kind === 'buy' || e.kind === 'token_in')
          return [...new Set(came.map((e) => e.mint))].map((mint) => {
            const ofMint = events.filter((e) => e.mint === mint)
            const { pnl, investedOpen } = slowBooks(ofMint)
            const sum = (of: readonly { amount: bigint }[]) => of.reduce((a, b) => a + b.amount, 0n)
            const open = sum(came.filter((e) => e.mint === mint)) - sum(slowMatches(ofMint))
            return [`W${wallet}`, mint, String(open), String(investedOpen), String(pnl)].join(' ')
          })
        })
        const found = await ask<Record<string, string>>(
          `SELECT wallet, mint, open_amount, open_cost_lamports, realized_lamports FROM analyst.positions_at(at = ${time})`,
        )
        t.deepEqual(
          found.map((row) => Object.values(row).join(' ')).sort(),
          expected.sort(),
          `seed ${seed}, time ${time}`,
        )
      }
      const hours = await ask<{ wallet: string; end: number; raw: string; strict: string }>(
        `SELECT wallet, hour + 3599 AS end,
           toString(sum(realized_lamports) OVER (PARTITION BY wallet ORDER BY hour)) AS raw,
           toString(sum(strict_realized_lamports) OVER (PARTITION BY wallet ORDER BY hour)) AS strict
         FROM analyst.pnl_hours ORDER BY wallet_number, hour`,
      )
      const swapHours = histories.flatMap((history, wallet) => {
        const swaps = history.filter(({ kind }) => kind === 'buy' || kind === 'sell')
        const ends = swaps.map((e) => e.blockTime - (e.blockTime % 3600) + 3599)
        return [...new Set(ends)].map((end) => ({ history, wallet, end }))
      })
      t.deepEqual(
        hours.map(({ end, ...row }) => ({ ...row, end: Number(end) })),
        swapHours
          .sort((a, b) => a.wallet - b.wallet || a.end - b.end)
          .map(({ history, wallet, end }) => {
            const realized = (mode: 'raw' | 'strict') =>
              String(slowProfitAt(slowEventsOf(history, mode), end).realized)
            return { wallet: `W${wallet}`, raw: realized('raw'), strict: realized('strict'), end }
          }),
        `seed ${seed}: the profit so far is that of rule L8`,
      )
    },
  )

  test.serial(
    `${name}: positions of a wallet at any past time, raw and strict, are what slow ways find in the events and prices until then (rules L5 to L7, L14)`,
    async (t) => {
      const { store } = opened
      for (const table of ['swaps', 'transfers', 'pool_states', 'sol_prices'])
        await store.command(`TRUNCATE TABLE ${table}`)
      const seed = Date.now() % 1_000_000
      const samples = fc.sample(aHistory, { numRuns: 100, seed })
      const histories = samples.sort((a, b) => b.length - a.length).slice(0, 5)
      const trades = histories.flatMap((events, wallet) =>
        events.flatMap((event) => (event.mint === '' ? [] : [{ ...event, wallet }])),
      )
      const times = trades.map(({ blockTime }) => blockTime)
      const pools = fc.sample(aPoolAt(times), { numRuns: 8, seed })
      const inputs: SlowPriceInputs = {
        swaps: trades.flatMap((trade) =>
          trade.kind === 'buy' || trade.kind === 'sell' ? [{ ...trade, confidence: 'high' }] : [],
        ),
        pools: [...new Map(pools.map((pool) => [`${pool.mint} ${pool.at}`, pool])).values()],
        solPrices: fc.sample(fc.constantFrom(...times), { numRuns: 4, seed }).map((time) => ({
          time,
          usdE9: BigInt(time),
        })),
        solPriceMaxAgeSeconds: 3600,
      }
      await storeTrades(store, trades)
      await insertPoolStates(
        store,
        inputs.pools.map((pool) => ({ ...pool, quoteReserve: 1n, slot: 1 })),
      )
      await insertSolPrices(store, 'pool', inputs.solPrices)
      const asked = histories.flatMap((events, wallet) => {
        const own = fc.sample(fc.constantFrom(...events), { numRuns: 2, seed })
        const at = [...own, ...events.slice(-1)].map(({ blockTime }) => blockTime)
        return FOLD_MODES.flatMap((mode) => at.map((time) => ({ wallet, time, mode })))
      })
      const sources = { pool: 0, swap: 0, none: 0 }
      for (const { wallet, time, mode } of asked) {
        const events = (histories[wallet] ?? []).filter(({ blockTime }) => blockTime <= time)
        const expected = slowPositions(slowEventsOf(events, mode)).map((position) => {
          const { mint, amount, cost, realized } = position
          const price = amount > 0n ? slowTokenPrice(inputs, mint, wallet, time) : null
          const value = price && slowWorth(amount, price)
          sources[price?.source ?? 'none'] += 1
          const worth = [value, value === null ? null : value - cost]
          return [mint, amount, cost, realized, ...worth, price?.source, price?.time]
        })
        const found = await ask<Record<string, unknown>>(
          `SELECT mint, open_amount, open_cost_lamports, realized_lamports, value_lamports, unrealized_lamports, price_source, price_time
           FROM analyst.wallet_positions_at(wallet_number = ${wallet}, at = ${time}, mode = '${mode}')`,
        )
        t.deepEqual(
          found.map((row) => Object.values(row).join(' ')).sort(),
          expected.map((row) => row.join(' ')).sort(),
          `seed ${seed}, W${wallet} at ${time}, ${mode}`,
        )
      }
      t.log(`prices: ${JSON.stringify(sources)}`)
      await t.throwsAsync(
        ask("SELECT * FROM analyst.wallet_positions_at(wallet_number = 1, at = 0, mode = 'Raw')"),
      )
    },
  )
}

/** A state of a pool of one of the tokens of `aHistory`, at a tick near one of the times. */
const aPoolAt = (times: readonly number[]) =>
  fc.record({
    at: fc.constantFrom(...times).map((time) => time - (time % 10)),
    mint: fc.constantFrom('mintA', 'mintB', 'mintC'),
    pool: fc.constantFrom('pool', 'pool', ''),
    quoteMint: fc.constantFrom<string>(WSOL, USDC),
    price: fc.record({
      quote: fc.bigInt({ min: 1n, max: 10n ** 12n }),
      base: fc.bigInt({ min: 0n, max: 10n ** 9n }),
    }),
  })

/** Stores swaps and transfers of tokens, each also in an older version with another amount. */
async function storeTrades(
  store: Store,
  trades: readonly (FoldEvent & { readonly wallet: number })[],
): Promise<void> {
  const rows: Record<string, Row[]> = {}
  for (const trade of trades) {
    const { kind, amount, value, decimals, wallet, blockTime, slot, txIndex, eventIndex } = trade
    const place = { slot, txIndex, eventIndex }
    const mint = trade.mint as Address // any text
    for (const version of [0, 1]) {
      const units = amount + BigInt(1 - version)
      const event: WalletEvent =
        kind === 'buy' || kind === 'sell'
          ? swap(wallet, blockTime, kind, units, value ?? 0n, {
              ...place,
              baseMint: mint,
              baseDecimals: decimals,
              quoteMismatch: value === null,
            })
          : {
              kind: 'token_transfer',
              ...key(wallet, blockTime),
              ...place,
              direction: kind === 'token_in' ? 'in' : 'out',
              mint,
              amount: units,
              decimals,
            }
      const [table, row] = decodedRow(event, null)
      rows[table] ??= []
      rows[table].push({ ...row, version })
    }
  }
  for (const [table, stored] of Object.entries(rows)) await store.insert(table, stored)
}

testViews('chDB', openTestChdb, (store) => ({ ask: store.query, close: async () => {} }))

const { CLICKHOUSE_URL, ANALYST_PASSWORD } = process.env
if (CLICKHOUSE_URL && ANALYST_PASSWORD)
  testViews(
    'analyst on ClickHouse',
    () => openTestClickHouse(CLICKHOUSE_URL),
    () => {
      const client = createClient({
        url: new URL(CLICKHOUSE_URL).origin,
        username: 'analyst',
        database: 'system', // its default one need not be there
        password: ANALYST_PASSWORD,
      })
      return {
        ask: async (query) => (await client.query({ query, format: 'JSONEachRow' })).json(),
        close: () => client.close(),
      }
    },
  )
else test.skip('analyst on ClickHouse: CLICKHOUSE_URL or ANALYST_PASSWORD is not set', () => {})
