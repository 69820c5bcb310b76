import { ClickHouseLogLevel, createClient } from '@clickhouse/client'
import test from 'ava'
import { coarsen, coarsenNumber, PRICE_DIGITS } from '../../domain/coarsen.ts'
import type { BalanceRecord, WalletEvent } from '../../domain/event.ts'
import { compareEventKeys } from '../../domain/event-key.ts'
import { createPerturb, type Perturb, perturbAmount } from '../../domain/perturbation.ts'
import { swapValueLamports } from '../../domain/swap-value.ts'
import { FOLD_MODES, toFoldEvent } from '../../fold/fold-event.ts'
import { foldBalance, foldEvent } from '../../fold/fold-wallet.ts'
import { createTradeSums } from '../../fold/trade-sums.ts'
import { PositionsFold } from '../../fold/wallet-positions.ts'
import { createWalletState, takeChanges, type WalletState } from '../../fold/wallet-state.ts'
import { analystDatabase, migrate } from '../../store/migrate.ts'
import type { Row, Store } from '../../store/store.ts'
import { readTokenPrices } from '../../store/tables/token-prices.ts'
import { aChain } from '../../testing/a-chain.ts'
import { openTestChdb, openTestClickHouse, type TestStore } from '../../testing/test-store.ts'
import { BookWriter } from './book-writer.ts'
import { decodedRow } from './event-rows.ts'
import { adoptSalt } from './privacy-salt.ts'

/*
 * The analyst's views with PRIVACY_SALT (rule I2a), on chDB, and as the user `analyst` on the
 * server of CLICKHOUSE_URL: SQL perturbs and coarsens as the code of the API does.
 */

const SALT = "a salt of this test, with 'quotes' and ünïcode"
const WALLETS = 4

const { slots } = aChain({ seed: 5, slots: 120, wallets: WALLETS, lateShare: 0 })
const records = slots.flatMap((slot) => slot.records)
const balances = records.filter((record): record is BalanceRecord => record.kind === 'balance')
const events = records
  .filter((record): record is WalletEvent =>
    ['swap', 'token_transfer', 'sol_transfer'].includes(record.kind),
  )
  .sort(compareEventKeys)
const END = 1_800_000_000
/** Time of the newest event, which other wallets' swaps are near enough to give prices at. */
const NEWEST = Math.max(...events.map(({ blockTime }) => blockTime))

/** Folds the books of the wallets with the salt. */
function foldBooks(): WalletState[] {
  const perturb = createPerturb(SALT)
  return Array.from({ length: WALLETS }, (_, index) => {
    const state = createWalletState(index + 1)
    for (const event of events)
      if (event.wallet === state.wallet) foldEvent(state, toFoldEvent(event), perturb)
    for (const balance of balances) if (balance.wallet === state.wallet) foldBalance(state, balance)
    return state
  })
}

/** Stores events, balances and the books folded from them with a salt. */
async function storeHistory(store: Store): Promise<void> {
  for (const record of [...events, ...balances]) {
    const [table, row] = decodedRow(record, null)
    await store.insert(table, [row])
  }
  const rows = new BookWriter(store, () => 0, 1_700_000_059, true)
  for (const state of foldBooks()) rows.add(state)
  await rows.store()
  await store.insert('wallet_coverage', [
    { wallet: 1, since_slot: 1, since_time: 1_700_000_001, version: 1 },
  ])
}

/** Returns rows of the event views as the API's functions serve the same events. */
function servedEvents(perturb: Perturb): Record<string, Row[]> {
  const rows: Record<string, Row[]> = { swaps: [], transfers: [], sol_transfers: [] }
  for (const event of events) {
    const noise = perturb(event)
    const served = {
      wallet: `W${event.wallet}`,
      block_time: event.blockTime - noise.earlierSeconds,
    }
    if (event.kind === 'swap') {
      const value = swapValueLamports(event)
      const price = event.solPriceUsdE9
      rows.swaps?.push({
        ...served,
        base_mint: event.baseMint,
        base_amount: perturbAmount(event.baseAmount, noise),
        quote_amount: perturbAmount(event.quoteAmount, noise),
        fee_lamports: coarsen(event.feeLamports),
        sol_price_usd_e9: price === null ? null : coarsen(price, PRICE_DIGITS),
        value_lamports: value === null ? null : perturbAmount(value, noise),
      })
    } else if (event.kind === 'token_transfer')
      rows.transfers?.push({ ...served, mint: event.mint, amount: coarsen(event.amount) })
    else rows.sol_transfers?.push({ ...served, lamports: coarsen(event.lamports) })
  }
  return rows
}

/** Returns the newest balance of each wallet as it is served. */
function servedBalances(perturb: Perturb): Row[] {
  const newest = new Map<number, BalanceRecord>()
  for (const balance of balances) newest.set(balance.wallet, balance)
  return [...newest.values()].map((balance) => ({
    wallet: `W${balance.wallet}`,
    block_time: balance.blockTime - perturb({ ...balance, eventIndex: 0 }).earlierSeconds,
    lamports: coarsen(balance.lamports),
  }))
}

/**
 * Returns rows of `lots` and `disposals` as they are served: see the header of
 * sql/0142_analyst_served_books.sql.
 */
function servedMatches(perturb: Perturb): Record<'lots' | 'disposals', Row[]> {
  const rows: Record<'lots' | 'disposals', Row[]> = { lots: [], disposals: [] }
  for (const state of foldBooks()) {
    const wallet = `W${state.wallet}`
    const { lots, disposals } = takeChanges(state)
    for (const { mint, lot } of lots) {
      const noise = perturb({ ...lot, wallet: state.wallet })
      const isBought = lot.origin === 'buy'
      const whole = (amount: bigint) => (isBought ? perturbAmount(amount, noise) : coarsen(amount))
      const part = (amount: bigint) =>
        lot.left === lot.amount ? whole(amount) : coarsen(whole(amount))
      rows.lots.push({
        wallet,
        mint,
        block_time: lot.time - noise.earlierSeconds,
        amount: whole(lot.amount),
        cost_lamports: whole(lot.cost),
        left_amount: part(lot.left),
        left_cost_lamports: part(lot.leftCost),
        quick_sold_amount: coarsen(whole(lot.quickSold)),
      })
    }
    for (const { lot, mint, amount, cost, proceeds, ...event } of disposals) {
      const noise = perturb({ ...event, wallet: state.wallet })
      const lotNoise = perturb({ ...lot, wallet: state.wallet })
      const servedCost = coarsen(perturbAmount(cost, lotNoise))
      const servedProceeds = proceeds === null ? null : coarsen(perturbAmount(proceeds, noise))
      rows.disposals.push({
        wallet,
        mint,
        block_time: event.time - noise.earlierSeconds,
        lot_time: lot.time - lotNoise.earlierSeconds,
        amount: coarsen(lot.origin === 'buy' ? perturbAmount(amount, lotNoise) : amount),
        cost_lamports: servedCost,
        proceeds_lamports: servedProceeds,
        profit_lamports: servedProceeds === null ? null : servedProceeds - servedCost,
      })
    }
  }
  return rows
}

/** Returns rows of `positions`, and of `positions_at` at the end. */
function servedPositions(matches: Record<'lots' | 'disposals', Row[]>): Record<string, Row[]> {
  const positions = foldBooks().flatMap((state) =>
    [...state.tokens.values()].map((token) => {
      const { openAmount, openCost, realized, exitSeconds, mint } = token
      const served = token.served ?? createTradeSums()
      return {
        wallet: `W${state.wallet}`,
        mint,
        open_amount: coarsen(openAmount),
        open_cost_lamports: coarsen(openCost),
        realized_lamports: coarsen(realized),
        bought_amount: served.bought,
        sold_amount: served.sold,
        bought_lamports: served.boughtLamports,
        sold_lamports: served.soldLamports,
        first_buy_time: served.firstBuyTime,
        first_trade_time: served.firstTradeTime,
        last_trade_time: served.lastTradeTime,
        exit_seconds: exitSeconds === null ? null : coarsenNumber(exitSeconds),
      }
    }),
  )
  const ever = positions.flatMap((position) => {
    const { wallet, mint, open_amount, open_cost_lamports, realized_lamports } = position
    const times = [...matches.lots, ...matches.disposals].flatMap((row) =>
      row.wallet === wallet && row.mint === mint ? [Number(row.block_time)] : [],
    )
    if (times.length === 0) return []
    const changed_at = Math.max(...times)
    return [{ wallet, mint, open_amount, open_cost_lamports, realized_lamports, changed_at }]
  })
  return { positions, [`positions_at(at = ${END})`]: ever }
}

/** Returns rows of `pnl_hours`. */
function servedHours(): Row[] {
  return foldBooks().flatMap((state) => {
    const { profitHours } = takeChanges(state)
    return [...new Set(profitHours.map(({ sums }) => sums.hour))].map((hour) => {
      const ofHour = profitHours.map(({ sums }) => sums).filter((sums) => sums.hour === hour)
      const total = (figure: 'volume' | 'realized' | 'strictRealized') =>
        ofHour.reduce((sum, sums) => sum + sums[figure], 0n)
      return {
        wallet: `W${state.wallet}`,
        hour,
        trades: ofHour.reduce((sum, { trades }) => sum + trades, 0),
        volume_lamports: coarsen(total('volume')),
        realized_lamports: coarsen(total('realized')),
        strict_realized_lamports: coarsen(total('strictRealized')),
      }
    })
  })
}

/** Returns rows of `first_buys`. */
function servedFirstBuys(perturb: Perturb): Row[] {
  return foldBooks().flatMap((state) =>
    takeChanges(state).firstBuys.map((buy) => {
      const noise = perturb({ ...buy, wallet: state.wallet })
      const { value, solPriceUsdE9: price } = buy
      return {
        wallet: `W${state.wallet}`,
        mint: buy.mint,
        block_time: buy.blockTime - noise.earlierSeconds,
        amount: perturbAmount(buy.amount, noise),
        value_lamports: value === null ? null : perturbAmount(value, noise),
        sol_price_usd_e9: price === null ? null : coarsen(price, PRICE_DIGITS),
      }
    }),
  )
}

/**
 * Returns rows of `wallet_positions_at` for each wallet and mode at a time, from the fold and the
 * prices that answer `GET /wallets/{alias}/positions`.
 */
async function servedWalletPositions(store: Store, perturb: Perturb, at: number) {
  const views: Record<string, Row[]> = {}
  for (let wallet = 1; wallet <= WALLETS; wallet += 1)
    for (const mode of FOLD_MODES) {
      const fold = new PositionsFold({ wallet, mode, perturb })
      for (const event of events) if (event.wallet === wallet) fold.add(toFoldEvent(event))
      const positions = fold.positions()
      const prices = await readTokenPrices(store, {
        mints: positions.map(({ mint }) => mint),
        wallet,
        times: [at],
        stored: Number.MAX_SAFE_INTEGER,
        wasRedecoded: false,
        solPriceMaxAgeSeconds: 3600,
        perturb,
      })
      prices.moveTo(at)
      const view = `wallet_positions_at(wallet_number = ${wallet}, at = ${at}, mode = '${mode}')`
      views[view] = positions.map((position) => {
        const price = position.amount > 0n ? prices.priceOf(position.mint) : null
        const cost = coarsen(position.cost)
        const { numerator = 0n, denominator = 1n } = price?.price ?? {}
        const value = price && coarsen((position.amount * numerator) / denominator)
        return {
          wallet: `W${wallet}`,
          mint: position.mint,
          open_amount: coarsen(position.amount),
          open_cost_lamports: cost,
          realized_lamports: coarsen(position.realized),
          value_lamports: value,
          unrealized_lamports: value === null ? null : coarsen(value - cost),
          price_source: price?.source ?? null,
          price_time: price?.time ?? null,
        }
      })
    }
  return views
}

/** Returns rows as sorted text. */
function asText(rows: readonly Row[]): string[] {
  const text = (value: unknown) => (value === null ? 'null' : String(value))
  return rows.map((row) => Object.values(row).map(text).join(' ')).sort()
}

/** Views that have a readable column `time`. */
const TIMED = [
  'swaps',
  'transfers',
  'sol_transfers',
  'sol_balances',
  'lots',
  'disposals',
  'first_buys',
]

type Ask = <T>(sql: string) => Promise<T[]>

function testSalted(
  name: string,
  open: () => Promise<TestStore>,
  asAnalyst: (store: Store) => { ask: Ask; close(): Promise<void> },
): void {
  let opened: TestStore
  let ask: Ask
  let close: () => Promise<void> = async () => {}
  test.serial.before(async () => {
    opened = await open()
    const { store } = opened
    await migrate(store)
    await storeHistory(store)
    const [own] = await store.query<{ name: string }>('SELECT currentDatabase() AS name')
    const analyst = asAnalyst(store)
    close = analyst.close
    ask = (sql) => analyst.ask(sql.replaceAll('analyst.', `${analystDatabase(own?.name ?? '')}.`))
  })
  test.after.always(async () => {
    await close()
    await opened?.remove()
  })

  test.serial(
    `${name}: with a salt the views show what is served, without one what happened`,
    async (t) => {
      const perturb = createPerturb(SALT) as Perturb // not null, because there is a salt
      const matches = servedMatches(perturb)
      const expected: Record<string, Row[]> = {
        ...servedEvents(perturb),
        ...matches,
        ...servedPositions(matches),
        first_buys: servedFirstBuys(perturb),
        pnl_hours: servedHours(),
        sol_balances: servedBalances(perturb),
        coverage: [{ wallet: 'W1', complete_since: 1_700_002_800 }],
        ...(await servedWalletPositions(opened.store, perturb, NEWEST)),
      }
      const read = async () => {
        const shown: Record<string, string[]> = {}
        for (const [view, rows] of Object.entries(expected)) {
          const columns = Object.keys(rows[0] ?? {}).join(', ')
          shown[view] = asText(await ask<Row>(`SELECT ${columns} FROM analyst.${view}`))
        }
        return shown
      }
      const exact = await read()
      await adoptSalt(opened.store, SALT)
      const shown = await read()
      for (const [view, rows] of Object.entries(expected)) {
        t.true(rows.length > 0, view)
        t.deepEqual(shown[view], asText(rows), view)
        t.notDeepEqual(shown[view], exact[view], view)
      }
      for (const view of TIMED)
        t.deepEqual(
          await ask(
            `SELECT count() AS odd FROM analyst.${view} WHERE toUnixTimestamp(time) != block_time`,
          ),
          [{ odd: '0' }],
          view,
        )
      await adoptSalt(opened.store, null)
      t.deepEqual(await read(), exact)
    },
  )

  test.serial(`${name}: metrics are stored as they are served: sums of two digits`, async (t) => {
    const metrics = await ask<Row>('SELECT * FROM analyst.wallet_metrics')
    t.is(metrics.length, WALLETS)
    for (const row of metrics) {
      for (const [column, value] of Object.entries(row))
        if (/lamports|seconds_sum/.test(column)) t.regex(String(value), /^-?\d{1,2}0*$/, column)
      t.is(row.computed_at, 1_700_000_040)
    }
  })
}

testSalted('chDB', openTestChdb, (store) => ({ ask: store.query, close: async () => {} }))

const { CLICKHOUSE_URL, ANALYST_PASSWORD } = process.env
if (CLICKHOUSE_URL && ANALYST_PASSWORD) {
  const openAnalyst = () => {
    const client = createClient({
      url: new URL(CLICKHOUSE_URL).origin,
      username: 'analyst',
      database: 'system', // its default one need not be there
      password: ANALYST_PASSWORD,
      log: { level: ClickHouseLogLevel.OFF },
    })
    const ask: Ask = async (query) => (await client.query({ query, format: 'JSONEachRow' })).json()
    return { client, ask, close: () => client.close() }
  }
  const name = 'analyst on ClickHouse'
  testSalted(name, () => openTestClickHouse(CLICKHOUSE_URL), openAnalyst)

  test.serial(`${name}: no view, plan or error shows the salt`, async (t) => {
    const { store, remove } = await openTestClickHouse(CLICKHOUSE_URL)
    const { client, close } = openAnalyst()
    t.teardown(() => Promise.all([remove(), close()]))
    await migrate(store)
    await adoptSalt(store, SALT)
    const [own] = await store.query<{ name: string }>('SELECT currentDatabase() AS name')
    const database = own?.name ?? ''
    const swaps = `${analystDatabase(database)}.swaps`
    const denied = { message: /not enough privileges/i }
    await t.throwsAsync(client.query({ query: `SELECT * FROM ${database}.privacy_salt` }), denied)
    const seen = [`SHOW CREATE TABLE ${swaps}`]
    for (const kind of ['AST', 'SYNTAX', 'QUERY TREE', 'PLAN actions = 1, header = 1', 'PIPELINE'])
      seen.push(`EXPLAIN ${kind} SELECT * FROM ${swaps} WHERE base_amount > 5`)
    for (const query of seen) {
      const answer = await client.query({ query, format: 'TabSeparated' })
      t.false((await answer.text()).includes(SALT.slice(0, 10)), query)
    }
    const error = await t.throwsAsync(
      client.query({ query: `SELECT throwIf(count() = 0) FROM ${swaps}` }),
    )
    t.false(error?.message.includes(SALT.slice(0, 10)))
  })
} else test.skip('analyst on ClickHouse: CLICKHOUSE_URL or ANALYST_PASSWORD is not set', () => {})
