import test from 'ava'
import type { Swap, WalletEvent } from '../../domain/event.ts'
import { compareEventKeys, eventKeyText } from '../../domain/event-key.ts'
import { ServiceError } from '../../domain/service-error.ts'
import { toFoldEvent } from '../../fold/fold-event.ts'
import { foldEvent } from '../../fold/fold-wallet.ts'
import { createWalletState, takeChanges } from '../../fold/wallet-state.ts'
import { analystDatabase, migrate } from '../../store/migrate.ts'
import type { Store } from '../../store/store.ts'
import { deleteStaleRows, insertDisposals } from '../../store/tables/books.ts'
import { insertProgress } from '../../store/tables/progress.ts'
import { aChain } from '../../testing/a-chain.ts'
import { slowMatches } from '../../testing/slow-books.ts'
import { slowEvent } from '../../testing/slow-events.ts'
import { openTestChdb, openTestClickHouse, type TestStore } from '../../testing/test-store.ts'
import { disposalRow } from '../fold/book-rows.ts'
import { makeEventIdKey } from '../fold/event-id-key.ts'
import { recordRow } from '../fold/event-rows.ts'
import { Roller } from './roller.ts'

/*
 * The rollups of a market whose events come late, are corrected and are withdrawn (rule I4), on
 * chDB and on CLICKHOUSE_URL. The expected rows come from the events alone, by a slow way.
 */

const WALLETS = [1, 2, 3, 4]
/** A slot of the chain is so many seconds after the one before, so that it spans some days. */
const SECONDS = 1700
/** The overlap of two passes. Changes of the previous pass but one are not looked at again. */
const OVERLAP_MS = 1

const dayOf = (time: number) => new Date(time * 1000).toISOString().slice(0, 10)

const { slots } = aChain({ seed: 11, slots: 150, wallets: WALLETS.length, lateShare: 0 })
const EVENTS = slots
  .flatMap((slot) => slot.records)
  .filter((record): record is WalletEvent =>
    ['swap', 'token_transfer', 'sol_transfer'].includes(record.kind),
  )
  .map((event) => ({ ...event, blockTime: 1_700_000_000 + (event.slot - 1000) * SECONDS }))
  .sort(compareEventKeys)
const isSwap = (event: WalletEvent): event is Swap => event.kind === 'swap'
const FIRST_DAY = dayOf(EVENTS.find(isSwap)?.blockTime ?? 0)

/** A market: its events, and the stored versions of them and of their matches. */
class Market {
  readonly #store: Store
  readonly #events = new Map<string, WalletEvent>()
  #version = 0

  constructor(store: Store) {
    this.#store = store
  }

  get events(): WalletEvent[] {
    return [...this.#events.values()].sort(compareEventKeys)
  }

  /** Stores events that are new or corrected. */
  async write(events: readonly WalletEvent[]): Promise<void> {
    for (const event of events) this.#events.set(eventKeyText(event), event)
    await this.#insert(events, 0)
  }

  async withdraw(events: readonly WalletEvent[]): Promise<void> {
    for (const event of events) this.#events.delete(eventKeyText(event))
    await this.#insert(events, 1)
  }

  /** Stores versions of swaps, and then the matches of every wallet that they change. */
  async #insert(events: readonly WalletEvent[], isDeleted: number): Promise<void> {
    this.#version += 1
    const version = this.#version
    const rows = events.filter(isSwap).map((swap) => recordRow(swap))
    await this.#store.insert(
      'swaps',
      rows.map((row) => ({ ...row, version, is_deleted: isDeleted })),
    )
    for (const wallet of new Set(events.map((event) => event.wallet))) {
      const state = createWalletState(wallet)
      for (const event of this.events)
        if (event.wallet === wallet) foldEvent(state, toFoldEvent(event))
      const { disposals } = takeChanges(state)
      await insertDisposals(
        this.#store,
        disposals.map((disposal) => disposalRow(wallet, BigInt(version), disposal)),
      )
      await deleteStaleRows(this.#store, 'disposals', new Map([[wallet, BigInt(version)]]))
    }
    await insertProgress(this.#store, [
      {
        worker: 'fold',
        partition: 0,
        partitions: 1,
        slot: version,
        parent: 0,
        block_time: version,
      },
    ])
  }
}

/** A swap, in the terms of the views. */
interface Trade {
  readonly wallet: number
  readonly time: number
  readonly side: string
  readonly mint: string
  readonly amount: bigint
  readonly decimals: number
  readonly value: bigint | null
}

/** The realised profit of one sell. */
interface Sale {
  readonly wallet: number
  readonly time: number
  readonly profit: bigint
}

const sum = (values: readonly bigint[]) => values.reduce((a, b) => a + b, 0n)
const count = (values: readonly unknown[]) => String(values.length)
const hourOf = (time: number) => time - (time % 3600)

/** Groups values by the text of a key, in the order of keys. */
function groups<T>(values: readonly T[], keyOf: (value: T) => string): T[][] {
  const found = new Map<string, T[]>()
  for (const value of values) {
    const key = keyOf(value)
    found.set(key, [...(found.get(key) ?? []), value])
  }
  return [...found].sort(([a], [b]) => (a < b ? -1 : 1)).map(([, group]) => group)
}

function tradesOf(events: readonly WalletEvent[]): Trade[] {
  return events.filter(isSwap).map((swap) => ({
    wallet: swap.wallet,
    time: swap.blockTime,
    side: swap.side,
    mint: swap.baseMint,
    amount: swap.baseAmount,
    decimals: swap.baseDecimals,
    value: slowEvent(swap).value,
  }))
}

function salesOf(events: readonly WalletEvent[]): Sale[] {
  return WALLETS.flatMap((wallet) => {
    const ofWallet = events.filter((event) => event.wallet === wallet).map(slowEvent)
    return groups(ofWallet, ({ mint }) => mint)
      .flatMap((ofMint) =>
        groups(
          slowMatches(ofMint).filter((match) => match.proceeds !== null),
          ({ taker }) => `${taker.slot} ${taker.txIndex} ${taker.eventIndex}`,
        ),
      )
      .map((matches) => ({
        wallet,
        time: matches[0]?.taker.blockTime ?? 0,
        profit: sum(matches.map((match) => (match.proceeds ?? 0n) - match.cost)),
      }))
  })
}

const sums = (trades: readonly Trade[]) => ({
  trades: count(trades),
  buys: count(trades.filter((trade) => trade.side === 'buy')),
  sells: count(trades.filter((trade) => trade.side === 'sell')),
  volume_lamports: String(sum(trades.map((trade) => trade.value ?? 0n))),
})

/** The rows of `wallet_days`. */
function slowDays(trades: readonly Trade[], sales: readonly Sale[]) {
  return groups(trades, (trade) => `${dayOf(trade.time)} ${trade.wallet}`).map((ofDay) => {
    const wallet = ofDay[0]?.wallet ?? 0
    const day = dayOf(ofDay[0]?.time ?? 0)
    const profits = sales
      .filter((sale) => sale.wallet === wallet && dayOf(sale.time) === day)
      .map((sale) => sale.profit)
    return {
      wallet: `W${wallet}`,
      wallet_number: wallet,
      day,
      ...sums(ofDay),
      unvalued: count(ofDay.filter((trade) => trade.value === null)),
      realized_lamports: String(sum(profits)),
      wins: count(profits.filter((profit) => profit > 0n)),
      losses: count(profits.filter((profit) => profit < 0n)),
    }
  })
}

/** The rows of `token_hours`: each hour walks all swaps before. `trades` are in their order. */
function slowHours(trades: readonly Trade[]) {
  return groups(trades, (trade) => `${trade.mint} ${hourOf(trade.time)}`).map((ofHour) => {
    const mint = ofHour[0]?.mint ?? ''
    const hour = hourOf(ofHour[0]?.time ?? 0)
    const prices = ofHour.flatMap(({ value, amount, decimals }) =>
      value === null ? [] : [Number(value) / 1e9 / (Number(amount) / 10 ** decimals)],
    )
    const held = WALLETS.map((wallet) =>
      sum(
        trades
          .filter((trade) => trade.wallet === wallet && trade.mint === mint)
          .filter((trade) => hourOf(trade.time) <= hour)
          .map((trade) => (trade.side === 'buy' ? trade.amount : -trade.amount)),
      ),
    )
    return {
      mint,
      hour,
      open_price_sol: prices[0] ?? null,
      high_price_sol: prices.length === 0 ? null : Math.max(...prices),
      low_price_sol: prices.length === 0 ? null : Math.min(...prices),
      close_price_sol: prices.at(-1) ?? null,
      ...sums(ofHour),
      traders: String(new Set(ofHour.map((trade) => trade.wallet)).size),
      holders: count(held.filter((amount) => amount > 0n)),
    }
  })
}

const daysOf = (events: readonly WalletEvent[]) => slowDays(tradesOf(events), salesOf(events))
const hoursOf = (events: readonly WalletEvent[]) => slowHours(tradesOf(events))

/** A store that fails with `closed` at its `nth` write, counted from 1. */
function killedAt(store: Store, nth: number): Store {
  let writes = 0
  const write = async <T>(run: () => Promise<T>) => {
    writes += 1
    if (writes === nth) throw new ServiceError('closed', 'killed')
    return run()
  }
  return {
    ...store,
    query: store.query,
    insert: (...args) => write(() => store.insert(...args)),
    command: (...args) => write(() => store.command(...args)),
  }
}

const always = () => true
const every = (events: readonly WalletEvent[], n: number, from = 0) =>
  events.filter((_, at) => at % n === from % n)

function testRollups(name: string, open: () => Promise<TestStore>): void {
  let opened: TestStore
  let store: Store
  let market: Market
  let analyst = ''

  test.serial.before(async () => {
    opened = await open()
    store = opened.store
    await migrate(store)
    await makeEventIdKey(store)
    const [own] = await store.query<{ name: string }>('SELECT currentDatabase() AS name')
    analyst = analystDatabase(own?.name ?? '')
    market = new Market(store)
  })
  test.after.always(() => opened?.remove())

  const readDays = () =>
    store.query(
      `SELECT wallet, wallet_number, day, trades, buys, sells, unvalued, volume_lamports,
         realized_lamports, wins, losses FROM ${analyst}.wallet_days ORDER BY day, wallet_number`,
    )
  const readHours = () =>
    store.query(
      `SELECT mint, hour, open_price_sol, high_price_sol, low_price_sol, close_price_sol, trades,
         buys, sells, traders, volume_lamports, holders
       FROM ${analyst}.token_hours ORDER BY mint, hour`,
    )
  const roll = () => new Roller(store, always, OVERLAP_MS).pass()
  async function readVersions(): Promise<unknown[]> {
    const tables = ['wallet_token_hours', 'token_hours', 'wallet_days']
    return store.query(
      `SELECT * FROM (${tables.map((table) => `SELECT '${table}' AS name, count() AS n FROM ${table}`).join(' UNION ALL ')}) ORDER BY name`,
    )
  }

  test.serial(`${name}: rollups are what a slow way finds in the events`, async (t) => {
    // Every seventh comes late.
    await market.write(EVENTS.filter((_, at) => at % 7 !== 3))
    await roll()
    t.true(daysOf(market.events).length > 8)
    t.true(hoursOf(market.events).length > 50)
    t.deepEqual(await readDays(), daysOf(market.events))
    t.deepEqual(await readHours(), hoursOf(market.events))
    t.like(await store.query(`SELECT complete_until FROM ${analyst}.rollups`), [
      { complete_until: 1 },
    ])
  })

  test.serial(`${name}: a pass without changes writes nothing`, async (t) => {
    const before = await readVersions()
    await new Roller(store, always).pass() // looks at everything of the last minutes again
    t.deepEqual(await readVersions(), before)
  })

  test.serial(`${name}: late, corrected and withdrawn events change rollups`, async (t) => {
    const steps = [
      () => market.write(every(EVENTS, 7, 3)),
      () =>
        market.write(
          every(EVENTS.filter(isSwap), 9, 2).map((event) => ({
            ...event,
            baseMint: (EVENTS.find(isSwap) as Swap).baseMint, // there are swaps
            baseAmount: 77_777n,
          })),
        ),
      () => market.withdraw(every(market.events, 11, 4)),
      // All events of the first day, of which nothing is left.
      () => market.withdraw(market.events.filter((e) => dayOf(e.blockTime) === FIRST_DAY)),
    ]
    for (const step of steps) {
      await step()
      t.notDeepEqual(await readDays(), daysOf(market.events))
      await roll()
      t.deepEqual(await readDays(), daysOf(market.events))
      t.deepEqual(await readHours(), hoursOf(market.events))
    }
  })

  test.serial(
    `${name}: a roller that is killed before any of its writes loses nothing`,
    async (t) => {
      const lost = every(EVENTS.filter(isSwap), 100)
      let killed = 0
      for (let nth = 1; ; nth += 1) {
        await (nth % 2 === 1 ? market.withdraw(lost) : market.write(lost))
        const until = await new Roller(killedAt(store, nth), always, OVERLAP_MS)
          .pass()
          .catch(() => 0)
        if (until !== 0) break
        killed += 1
        await roll()
        t.deepEqual(await readDays(), daysOf(market.events), `killed at write ${nth}`)
        t.deepEqual(await readHours(), hoursOf(market.events), `killed at write ${nth}`)
      }
      t.true(killed > 4)
      t.deepEqual(await readDays(), daysOf(market.events))
    },
  )

  test.serial(`${name}: a row that an evicted roller still writes does not last`, async (t) => {
    await store.command(
      'INSERT INTO wallet_days SELECT * REPLACE (wins + 1 AS wins, version - 1 AS version) FROM wallet_days FINAL',
    )
    await store.command(
      'INSERT INTO token_hours SELECT * REPLACE (holders + 1 AS holders, version + 1 AS version) FROM token_hours FINAL',
    )
    await new Roller(store, always).pass()
    t.deepEqual(await readDays(), daysOf(market.events))
    t.deepEqual(await readHours(), hoursOf(market.events))
  })

  test.serial(
    `${name}: with a salt the views are computed from what other views show`,
    async (t) => {
      const exact = await readHours()
      await store.insert('privacy_salt', [{ id: 1, salt: 'a salt of this test', version: 1 }])
      const trades = await store.query<Record<string, string | null> & { n: number; time: number }>(
        `SELECT wallet_number AS n, block_time AS time, side, base_mint, base_amount, base_decimals,
         value_lamports FROM ${analyst}.swaps ORDER BY block_time, event_id`,
      )
      const sales = await store.query<{ wallet: number; time: number; lamports: string }>(
        `SELECT wallet_number AS wallet, block_time AS time, sum(profit_lamports) AS lamports
       FROM ${analyst}.disposals WHERE kind = 'sell' AND profit_lamports IS NOT NULL
       GROUP BY wallet_number, block_time, event_id`,
      )
      const served = trades.map((row) => ({
        wallet: row.n,
        time: row.time,
        side: String(row.side),
        mint: String(row.base_mint),
        amount: BigInt(row.base_amount ?? 0),
        decimals: Number(row.base_decimals),
        value: row.value_lamports == null ? null : BigInt(row.value_lamports),
      }))
      const profits = sales.map((sale) => ({ ...sale, profit: BigInt(sale.lamports) }))
      t.deepEqual(await readDays(), slowDays(served, profits))
      t.deepEqual(await readHours(), slowHours(served))
      t.notDeepEqual(await readHours(), exact)
      t.deepEqual(
        await store.query(`SELECT complete_until FROM ${analyst}.rollups`),
        await store.query(`SELECT block_time AS complete_until FROM ${analyst}.storage`),
      )
    },
  )
}

testRollups('chDB', openTestChdb)

const { CLICKHOUSE_URL } = process.env
if (CLICKHOUSE_URL) testRollups('ClickHouse', () => openTestClickHouse(CLICKHOUSE_URL))
else test.skip('rollups on ClickHouse: CLICKHOUSE_URL is not set', () => {})
