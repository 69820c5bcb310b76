import type { Store } from '../../store/store.ts'
import type { TokenHistory } from '../../trending/engine.ts'
import type { TimedSolPrice } from '../../trending/sol-price-series.ts'
import type { TokenFacts } from '../../trending/token-book.ts'
import type { TrendingEvent } from '../../trending/trending-event.ts'
import { TICK_SECONDS } from '../../trending/watched-token.ts'
import { FOLD_COLUMNS } from '../fold/stored-events.ts'
import { type EventRow, eventsOf, type KeyRow, keyRowOf, keyText } from './trending-event-rows.ts'
import { readPoolStates } from './trending-rows.ts'

/** Bounds a query; never reached. */
const MOST_ROWS = 10_000_000
/** Slots in one query. */
const SLOTS_PER_QUERY = 5000

/** Which part of a token's history is read. */
export interface HistoryBounds {
  /** Newest slot of events. */
  readonly toSlot: number
  /** Slot after which the pools of swaps are read. */
  readonly poolsFromSlot: number
  /** Ticks of pool states: after the first, up to the second. */
  readonly statesAfter: number
  readonly statesThrough: number
}

/** The queries by which the trending engine is fed. Every method rejects as the store does. */
export class TrendingReader {
  readonly #store: Store

  constructor(store: Store) {
    this.#store = store
  }

  /**
   * Returns the events after slot `after`, in event-key order, and the slot up to which they are
   * all there. That slot is `to`, or an earlier one when there are more than `rows` swaps up to
   * `to`. It is `after` when the slots after it have more than `rows` swaps: ask again for more
   * rows.
   */
  async events(
    after: number,
    to: number,
    rows: number,
  ): Promise<{ readonly events: TrendingEvent[]; readonly through: number }> {
    const from = after + 1
    const swaps = await this.#range(SWAP_COLUMNS, 'swaps', { from, to, limit: rows })
    // The last slot of a full page may continue beyond it.
    const through = swaps.length === rows ? Number(swaps.at(-1)?.slot) - 1 : to
    if (through < from) return { events: [], through: after }
    const transfers = await this.#range(TRANSFER_COLUMNS, 'transfers', {
      from,
      to: through,
      limit: MOST_ROWS,
    })
    const complete = swaps.filter((row) => Number(row.slot) <= through)
    return { events: eventsOf(complete, transfers), through }
  }

  #range(
    columns: string,
    table: string,
    bounds: { readonly from: number; readonly to: number; readonly limit: number },
  ): Promise<EventRow[]> {
    return this.#store.query<EventRow>(
      `SELECT ${columns} FROM ${table} WHERE slot >= {from:UInt64} AND slot <= {to:UInt64}
       ORDER BY slot, tx_index, wallet, event_index LIMIT {limit:UInt32} SETTINGS optimize_use_projections = 0`,
      bounds,
    )
  }

  /** Returns the full histories of tokens by mint, with facts and pool states. */
  async histories(
    mints: readonly string[],
    bounds: HistoryBounds,
  ): Promise<ReadonlyMap<string, TokenHistory>> {
    const params = { mints, to: Math.max(0, bounds.toSlot) }
    const swaps = await this.#store.query<EventRow>(SWAPS_OF_MINTS, params)
    const transfers = await this.#store.query<EventRow>(TRANSFERS_OF_MINTS, params)
    const pools = await this.#store.query<PoolRow>(POOLS_OF_SWAPS, {
      ...params,
      from: Math.max(0, bounds.poolsFromSlot),
    })
    const facts = await this.#store.query<FactsRow>(
      'SELECT mint, supply, symbol, name FROM mints FINAL WHERE mint IN {mints:Array(String)} LIMIT 100000',
      { mints },
    )
    const { statesAfter, statesThrough } = bounds
    const states = await readPoolStates(this.#store, mints, statesAfter, statesThrough)
    const events = withPools(eventsOf(await this.#withoutCorrected(swaps), transfers), pools)
    const [eventsByMint, statesByMint] = [groupByMint(events), groupByMint(states)]
    const factsByMint = new Map(facts.map((row) => [row.mint, mintFactsOf(row)]))
    return new Map(
      mints.map((mint) => [
        mint,
        {
          mint,
          events: eventsByMint.get(mint) ?? [],
          facts: factsByMint.get(mint) ?? null,
          pools: statesByMint.get(mint) ?? [],
        },
      ]),
    )
  }

  /**
   * Drops swaps that a redecode moved to another mint. Projection `by_mint` still has their old
   * rows: see `infra/decisions/read-orders.md`.
   */
  async #withoutCorrected(rows: readonly EventRow[]): Promise<EventRow[]> {
    if (!(await this.#isCorrected())) return [...rows]
    const newest = new Map<string, bigint>()
    const slots = [...new Set(rows.map(({ slot }) => Number(slot)))]
    for (let at = 0; at < slots.length; at += SLOTS_PER_QUERY)
      for (const row of await this.#store.query<CorrectedRow>(CORRECTED, {
        slots: slots.slice(at, at + SLOTS_PER_QUERY),
      }))
        newest.set(keyText(row), BigInt(row.newest))
    return rows.filter((row) => BigInt(row.version) >= (newest.get(keyText(row)) ?? 0n))
  }

  async #isCorrected(): Promise<boolean> {
    const [row] = await this.#store.query('SELECT 1 AS one FROM swaps WHERE version > 0 LIMIT 1')
    return row !== undefined
  }

  /** Returns the mints swapped after slot `after` and up to slot `to`. */
  async swappedMints(after: number, to: number): Promise<string[]> {
    const rows = await this.#store.query<{ mint: string }>(
      `SELECT DISTINCT base_mint AS mint FROM swaps WHERE slot > {from:UInt64} AND slot <= {to:UInt64} LIMIT ${MOST_ROWS}
       SETTINGS optimize_use_projections = 0`,
      { from: Math.max(0, after), to: Math.max(0, to) },
    )
    return rows.map(({ mint }) => mint)
  }

  /** Returns the mints that these wallets traded; `isRecent`: one of them did after `since`. */
  async mintsOfWallets(
    wallets: Iterable<number>,
    since: number,
  ): Promise<{ readonly mint: string; readonly isRecent: boolean }[]> {
    const rows = await this.#store.query<{ mint: string; is_recent: number }>(
      `SELECT mint, countIf(last_trade_time > {since:UInt32}) > 0 AS is_recent FROM positions
       WHERE wallet IN {wallets:Array(UInt32)} GROUP BY mint LIMIT ${MOST_ROWS}`,
      { wallets: [...wallets], since: Math.max(0, since) },
    )
    return rows.map(({ mint, is_recent }) => ({ mint, isRecent: is_recent === 1 }))
  }

  /**
   * Returns the newest SOL price of each tick's interval, after `after` and up to `through`, by
   * time.
   */
  async prices(after: number, through: number): Promise<TimedSolPrice[]> {
    const rows = await this.#store.query<{ newest: number; price: string }>(
      `SELECT max(time) AS newest, argMax(usd_e9, (time, source)) AS price FROM sol_prices FINAL
       WHERE time > {after:UInt32} AND time <= {through:UInt32}
       GROUP BY intDiv(time + ${TICK_SECONDS - 1}, ${TICK_SECONDS}) ORDER BY newest LIMIT ${MOST_ROWS}`,
      { after: Math.max(0, after), through },
    )
    return rows.map(({ newest, price }) => ({ time: newest, usdE9: BigInt(price) }))
  }

  /** Returns the newest facts of mints that were stored in the last `seconds`. */
  async newFacts(seconds: number): Promise<ReadonlyMap<string, TokenFacts>> {
    const rows = await this.#store.query<FactsRow>(
      `SELECT mint, supply, symbol, name FROM mints WHERE inserted_at >= now64(3) - toIntervalSecond({seconds:UInt32})
       ORDER BY mint, version DESC LIMIT 1 BY mint LIMIT 100000`,
      { seconds },
    )
    return new Map(rows.map((row) => [row.mint, mintFactsOf(row)]))
  }

  /**
   * Returns the revision of each wallet that was refolded. A refold that is not finished is left
   * out.
   */
  async revisions(): Promise<Map<number, number>> {
    const rows = await this.#store.query<{ wallet: number; revision: number }>(
      `SELECT wallet, revision FROM fold_snapshots FINAL WHERE revision > 0 AND format > 0 LIMIT ${MOST_ROWS}`,
    )
    return new Map(rows.map(({ wallet, revision }) => [wallet, revision]))
  }

  /**
   * Returns the newest slot with a swap or transfer at or before a unix second; -1 if there is
   * none.
   */
  async slotAt(time: number): Promise<number> {
    const newest = (table: string) =>
      this.#store.query<{ slot: string }>(
        `SELECT slot FROM ${table} WHERE block_time <= {time:UInt32} ORDER BY slot DESC LIMIT 1 SETTINGS optimize_use_projections = 0`,
        { time: Math.max(0, time) },
      )
    const [swap] = await newest('swaps')
    const [transfer] = await newest('transfers')
    return Math.max(Number(swap?.slot ?? -1), Number(transfer?.slot ?? -1))
  }
}

interface PoolRow extends KeyRow {
  readonly pool: string
}

interface CorrectedRow extends KeyRow {
  readonly newest: string
}

interface FactsRow extends Pick<TokenFacts, 'symbol' | 'name'> {
  readonly mint: string
  readonly supply: string | null
}

const KEY = 'slot, tx_index, wallet, event_index'
const SWAP_BASE = `${KEY}, block_time, ${FOLD_COLUMNS.swaps}, version, is_deleted`
const SWAP_COLUMNS = `${SWAP_BASE}, pool`
const TRANSFER_COLUMNS = `${KEY}, block_time, ${FOLD_COLUMNS.transfers}, '' AS pool, version, is_deleted`

// Projection `by_mint` has no pools, so `POOLS_OF_SWAPS` reads them in the table's own order.
const SWAPS_OF_MINTS = `
  SELECT ${SWAP_BASE}, '' AS pool FROM swaps WHERE base_mint IN {mints:Array(String)} AND slot <= {to:UInt64}
  ORDER BY base_mint, ${KEY} LIMIT ${MOST_ROWS}`
const POOLS_OF_SWAPS = `
  SELECT ${KEY}, argMax(swaps.pool, version) AS pool FROM swaps
  WHERE slot > {from:UInt64} AND slot <= {to:UInt64} AND base_mint IN {mints:Array(String)} GROUP BY ${KEY} HAVING pool != '' LIMIT ${MOST_ROWS}
  SETTINGS optimize_use_projections = 0`
const TRANSFERS_OF_MINTS = `
  SELECT ${TRANSFER_COLUMNS} FROM transfers WHERE mint IN {mints:Array(String)} AND slot <= {to:UInt64} LIMIT ${MOST_ROWS}
  SETTINGS optimize_use_projections = 0`
const CORRECTED = `
  SELECT ${KEY}, max(version) AS newest FROM swaps WHERE version > 0 AND slot IN {slots:Array(UInt64)} GROUP BY ${KEY} LIMIT ${MOST_ROWS}`

function withPools(events: TrendingEvent[], pools: readonly PoolRow[]): TrendingEvent[] {
  const poolOf = new Map(pools.map((row) => [keyText(row), row.pool]))
  return events.map((event) => {
    const pool = poolOf.get(keyText(keyRowOf(event)))
    return pool === undefined ? event : { ...event, pool }
  })
}

/** Groups items by mint; the order within a group stays. */
export function groupByMint<T extends { readonly mint: string }>(
  items: readonly T[],
): Map<string, T[]> {
  const groups = new Map<string, T[]>()
  for (const item of items) {
    const group = groups.get(item.mint)
    if (group === undefined) groups.set(item.mint, [item])
    else group.push(item)
  }
  return groups
}

function mintFactsOf({ supply, symbol, name }: FactsRow): TokenFacts {
  return { supply: supply === null ? null : BigInt(supply), symbol, name }
}
