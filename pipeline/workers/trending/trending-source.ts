import { compareEventKeys } from '../../domain/event-key.ts'
import type { Store } from '../../store/store.ts'
import type { TrendingEngine } from '../../trending/engine.ts'
import type { TokenFacts } from '../../trending/token-book.ts'
import type { TrendingEvent } from '../../trending/trending-event.ts'
import { TICK_SECONDS, type WatchedToken } from '../../trending/watched-token.ts'
import { FOLD_COLUMNS, type FoldRow } from '../fold/stored-events.ts'
import { readPoolStates } from './trending-rows.ts'

/** Older trades than this, before a tick, are of no use for it by themselves: 24 hours, and the seconds of a tick and of the salt. */
const ACTIVE_SECONDS = 86_400 + 60
const ROWS_PER_PAGE = 20_000
/** Tokens whose histories are read together. */
const MINTS_PER_QUERY = 500
const MOST_ROWS = 10_000_000
const SLOTS_PER_QUERY = 5000

/**
 * Reads what an engine needs from the event tables, in ranges of time: swaps and transfers as they come, and of a token that it does not know yet
 * everything that was ever stored of it. Nothing of what is derived is read, so that nothing depends on when a worker wrote it.
 */
export class TrendingSource {
  readonly #store: Store
  readonly #engine: TrendingEngine
  /** How long after a tick things happen that count by it: what the salt takes from times. */
  readonly #lagSeconds: number
  readonly #solPriceMaxAgeSeconds: number
  /** Everything of slots up to this one has been read, and of times up to `#given` has been given to the engine; the rest waits in event-key order. */
  #readSlot = -1
  #given = 0
  #waiting: TrendingEvent[] = []
  #pricesUntil = 0
  #poolsUntil = 0
  /** Revisions of the wallets' books: one that rises says that stored events of the past have changed. */
  #revisions = new Map<number, number>()
  #factsAt = 0

  constructor(deps: {
    readonly store: Store
    readonly engine: TrendingEngine
    readonly lagSeconds: number
    readonly solPriceMaxAgeSeconds: number
  }) {
    this.#store = deps.store
    this.#engine = deps.engine
    this.#lagSeconds = deps.lagSeconds
    this.#solPriceMaxAgeSeconds = deps.solPriceMaxAgeSeconds
  }

  /** Brings the engine to where it stands before its first tick. `told`: what is written of the tokens listed then. */
  async open(told: readonly WatchedToken[]): Promise<void> {
    const engine = this.#engine
    this.#factsAt = performance.now()
    this.#revisions = await this.#readRevisions()
    this.#given = engine.at + this.#lagSeconds
    this.#readSlot = await this.#slotAt(this.#given)
    this.#pricesUntil = engine.at - 2 * 3600 - this.#solPriceMaxAgeSeconds
    await this.#readPrices(engine.at)
    const rows = await this.#store.query<{ mint: string }>(
      `SELECT DISTINCT base_mint AS mint FROM swaps WHERE slot > {from:UInt64} AND slot <= {to:UInt64} LIMIT ${MOST_ROWS}
       SETTINGS optimize_use_projections = 0`,
      {
        from: Math.max(0, await this.#slotAt(this.#given - ACTIVE_SECONDS)),
        to: Math.max(0, this.#readSlot),
      },
    )
    this.#poolsUntil = engine.at
    await this.#load([...new Set([...rows, ...told].map(({ mint }) => mint))], [])
    for (const token of told) engine.restore(token)
  }

  /** Gives the engine everything of the time up to tick `through`, which storage, wholly stored up to a slot, has passed. Gives how many tokens were read anew, as something of their past has changed. */
  async readThrough(through: number, storedSlot: number): Promise<number> {
    const horizon = through + this.#lagSeconds
    const changed = await this.#reloadChanged()
    await this.#readEvents(horizon, storedSlot)
    const count = this.#waiting.findIndex((event) => event.blockTime > horizon)
    const events = count < 0 ? this.#waiting : this.#waiting.slice(0, count)
    this.#waiting = count < 0 ? [] : this.#waiting.slice(count)
    const unknown = new Set<string>()
    for (const { kind, mint } of events)
      if ((kind === 'buy' || kind === 'sell') && !this.#engine.knows(mint)) unknown.add(mint)
    this.#engine.add(events)
    const news = events.filter(({ mint }) => unknown.has(mint))
    await this.#load([...unknown], news)
    this.#given = horizon
    await this.#readPrices(through)
    await this.#readFacts()
    this.#engine.addPools(await readPoolStates(this.#store, null, this.#poolsUntil, through))
    this.#poolsUntil = through
    return changed
  }

  /** Reads pages until there is something later than `horizon`, or nothing more up to slot `to`. */
  async #readEvents(horizon: number, to: number): Promise<void> {
    let rowLimit = ROWS_PER_PAGE
    while (this.#readSlot < to && !((this.#waiting.at(-1)?.blockTime ?? 0) > horizon)) {
      const from = this.#readSlot + 1
      const swaps = await this.#query(SWAP_COLUMNS, 'swaps', { from, to, limit: rowLimit })
      const isFull = swaps.length === rowLimit
      // The last slot of a full page may go on beyond it.
      const end = isFull ? Number(swaps.at(-1)?.slot) - 1 : to
      if (end < from) {
        rowLimit *= 2
        continue
      }
      const transfers = await this.#query(TRANSFER_COLUMNS, 'transfers', {
        from,
        to: end,
        limit: MOST_ROWS,
      })
      const complete = swaps.filter((row) => Number(row.slot) <= end)
      this.#waiting = this.#waiting.concat(inOrder(complete, transfers))
      this.#readSlot = end
    }
  }

  #query(
    columns: string,
    table: string,
    of: { readonly from: number; readonly to: number; readonly limit: number },
  ): Promise<EventRow[]> {
    return this.#store.query<EventRow>(
      `SELECT ${columns} FROM ${table} WHERE slot >= {from:UInt64} AND slot <= {to:UInt64}
       ORDER BY slot, tx_index, wallet, event_index LIMIT {limit:UInt32} SETTINGS optimize_use_projections = 0`,
      of,
    )
  }

  /** Loads what is stored of tokens of the times already given; `news`, what comes after it, goes with it. */
  async #load(mints: readonly string[], news: readonly TrendingEvent[]): Promise<void> {
    const newsOf = byMint(news)
    for (let at = 0; at < mints.length; at += MINTS_PER_QUERY) {
      const some = mints.slice(at, at + MINTS_PER_QUERY)
      const { histories, facts, pools } = await this.#readHistories(some)
      for (const mint of some) {
        const past = (histories.get(mint) ?? []).filter(({ blockTime }) => blockTime <= this.#given)
        this.#engine.load({
          mint,
          events: [...past, ...(newsOf.get(mint) ?? [])],
          facts: facts.get(mint) ?? null,
          pools: pools.get(mint) ?? [],
        })
      }
    }
  }

  /** Loads tokens anew of which something of the past has changed: their wallets' books have another revision. */
  async #reloadChanged(): Promise<number> {
    const known = this.#revisions
    const found = await this.#readRevisions()
    const wallets = new Set<number>()
    for (const [wallet, revision] of found)
      if (revision > (known.get(wallet) ?? 0)) wallets.add(wallet)
    // A wallet whose books are being made anew is heard of when they are.
    this.#revisions = new Map([...known, ...found])
    if (wallets.size === 0) return 0
    // Of a wallet with old trades alone in a token that others trade now, too.
    const rows = await this.#store.query<{ mint: string; is_recent: number }>(
      `SELECT mint, countIf(last_trade_time > {since:UInt32}) > 0 AS is_recent FROM positions
       WHERE wallet IN {wallets:Array(UInt32)} GROUP BY mint LIMIT ${MOST_ROWS}`,
      { wallets: [...wallets], since: Math.max(0, this.#given - ACTIVE_SECONDS) },
    )
    const mints = new Set(this.#engine.mintsOf(wallets))
    for (const { mint, is_recent } of rows)
      if (is_recent === 1 || this.#engine.knows(mint)) mints.add(mint)
    for (const { mint, wallet } of this.#waiting) if (wallets.has(wallet)) mints.add(mint)
    const list = [...mints]
    for (let at = 0; at < list.length; at += MINTS_PER_QUERY) {
      const some = list.slice(at, at + MINTS_PER_QUERY)
      const { histories, facts, pools } = await this.#readHistories(some)
      const later: TrendingEvent[] = []
      for (const mint of some) {
        const events = histories.get(mint) ?? []
        const past = events.filter(({ blockTime }) => blockTime <= this.#given)
        if (past.length > 0 || this.#engine.knows(mint))
          this.#engine.load({
            mint,
            events: past,
            facts: facts.get(mint) ?? null,
            pools: pools.get(mint) ?? [],
          })
        later.push(...events.filter(({ blockTime }) => blockTime > this.#given))
      }
      const reloaded = new Set(some)
      this.#waiting = this.#waiting
        .filter(({ mint }) => !reloaded.has(mint))
        .concat(later)
        .sort(compareEventKeys)
    }
    return list.length
  }

  /** Everything stored of tokens up to the slot that was read, in event-key order, with facts and pools. */
  async #readHistories(mints: readonly string[]) {
    const to = Math.max(0, this.#readSlot)
    const params = { mints, to }
    const [swaps, transfers, pools, facts, states] = [
      await this.#store.query<EventRow>(SWAPS_OF_MINTS, params),
      await this.#store.query<EventRow>(TRANSFERS_OF_MINTS, params),
      await this.#store.query<PoolRow>(POOLS_OF_SWAPS, {
        ...params,
        from: Math.max(0, await this.#slotAt(this.#given - ACTIVE_SECONDS)),
      }),
      await this.#store.query<FactsRow>(
        'SELECT mint, supply, symbol, name FROM mints FINAL WHERE mint IN {mints:Array(String)} LIMIT 100000',
        { mints },
      ),
      await readPoolStates(this.#store, mints, this.#poolsUntil - ACTIVE_SECONDS, this.#poolsUntil),
    ]
    const standing = await this.#withoutCorrected(swaps)
    const poolOf = new Map(pools.map((row) => [keyText(row), row.pool]))
    const events = inOrder(standing, transfers).map((event) => {
      const pool = poolOf.get(keyText(placeOf(event)))
      return pool === undefined ? event : { ...event, pool }
    })
    return {
      histories: byMint(events),
      facts: new Map(facts.map((row) => [row.mint, factsOf(row)])),
      pools: byMint(states),
    }
  }

  /** In projection `by_mint` lie rows under a mint that a later decoding took from them: see `infra/decisions/read-orders.md`. */
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

  async #readPrices(through: number): Promise<void> {
    const rows = await this.#store.query<{ newest: number; price: string }>(
      `SELECT max(time) AS newest, argMax(usd_e9, (time, source)) AS price FROM sol_prices FINAL
       WHERE time > {after:UInt32} AND time <= {through:UInt32}
       GROUP BY intDiv(time + ${TICK_SECONDS - 1}, ${TICK_SECONDS}) ORDER BY newest LIMIT ${MOST_ROWS}`,
      { after: Math.max(0, this.#pricesUntil), through },
    )
    this.#engine.addPrices(
      rows.map(({ newest, price }) => ({ time: newest, usdE9: BigInt(price) })),
    )
    this.#pricesUntil = through
  }

  /** Facts that have come since they were last looked for; a row may show some time after it is dated. */
  async #readFacts(): Promise<void> {
    const now = performance.now()
    const seconds = Math.ceil((now - this.#factsAt) / 1000) + 30
    const rows = await this.#store.query<FactsRow>(
      `SELECT mint, supply, symbol, name FROM mints WHERE inserted_at >= now64(3) - toIntervalSecond({seconds:UInt32})
       ORDER BY mint, version DESC LIMIT 1 BY mint LIMIT 100000`,
      { seconds },
    )
    this.#factsAt = now
    for (const row of rows) this.#engine.setFacts(row.mint, factsOf(row))
  }

  async #readRevisions(): Promise<Map<number, number>> {
    const rows = await this.#store.query<{ wallet: number; revision: number }>(
      `SELECT wallet, revision FROM fold_snapshots FINAL WHERE revision > 0 AND format > 0 LIMIT ${MOST_ROWS}`,
    )
    return new Map(rows.map(({ wallet, revision }) => [wallet, revision]))
  }

  /** The newest slot with a swap or transfer at or before a time; -1 when there is none. */
  async #slotAt(time: number): Promise<number> {
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

interface KeyRow {
  readonly slot: string
  readonly tx_index: number
  readonly wallet: number
  readonly event_index: number
}

interface EventRow extends FoldRow {
  readonly kind: TrendingEvent['kind']
  readonly pool: string
  readonly version: string
  readonly is_deleted: number
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

// Projection `by_mint` has no pools: those of the last day are looked up in the table's own order.
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

function keyText({ slot, tx_index, wallet, event_index }: KeyRow): string {
  return `${slot}/${tx_index}/${wallet}/${event_index}`
}

function placeOf({ slot, txIndex, wallet, eventIndex }: TrendingEvent): KeyRow {
  return { slot: String(slot), tx_index: txIndex, wallet, event_index: eventIndex }
}

function byMint<T extends { readonly mint: string }>(items: readonly T[]): Map<string, T[]> {
  const groups = new Map<string, T[]>()
  for (const item of items) {
    const group = groups.get(item.mint)
    if (group === undefined) groups.set(item.mint, [item])
    else group.push(item)
  }
  return groups
}

/** Events of both tables, in event-key order. */
function inOrder(swaps: readonly EventRow[], transfers: readonly EventRow[]): TrendingEvent[] {
  return [...newestOf(swaps), ...newestOf(transfers)].sort(compareEventKeys)
}

/** Of the rows of one key the highest version counts, and nothing when it is deleted. */
function newestOf(rows: readonly EventRow[]): TrendingEvent[] {
  const newest = new Map<string, EventRow>()
  for (const row of rows) {
    const key = keyText(row)
    const known = newest.get(key)
    if (known === undefined || BigInt(row.version) > BigInt(known.version)) newest.set(key, row)
  }
  const events: TrendingEvent[] = []
  for (const row of newest.values()) if (row.is_deleted === 0) events.push(eventOf(row))
  return events
}

/** As `foldEventOf`, with every field by name here too: an object made with a spread is several times slower to make and to use. */
function eventOf(row: EventRow): TrendingEvent {
  return {
    slot: Number(row.slot),
    txIndex: row.tx_index,
    wallet: row.wallet,
    eventIndex: row.event_index,
    blockTime: row.block_time,
    kind: row.kind,
    mint: row.mint,
    decimals: row.decimals,
    amount: BigInt(row.amount),
    value: row.value === null ? null : BigInt(row.value),
    solPriceUsdE9: row.price === null ? null : BigInt(row.price),
    pool: row.pool,
  }
}

function factsOf({ supply, symbol, name }: FactsRow): TokenFacts {
  return { supply: supply === null ? null : BigInt(supply), symbol, name }
}
