import type { StateChange } from '../../pipeline/log/state-log.ts'
import type { Store } from '../../pipeline/store/store.ts'
import {
  type HeldPositionRow,
  type HeldTokenRow,
  newestPositionWallet,
  PACKED_WORDS,
  type PageOf,
  type PositionVersion,
  readLargePositions,
  readOpenPositions,
} from '../../pipeline/store/tables/positions.ts'
import type { HeldRows } from '../items/wallet-holdings-text.ts'
import type { StateModel, StoredSlot } from '../state-reader.ts'
import { PositionTable } from './position-table.ts'
import { RowOrder } from './row-order.ts'
import { sortByKeys } from './sort-by-keys.ts'
import { wordsOf } from './token-table.ts'

/**
 * The open positions of all wallets, in memory, some 95 bytes each. It answers sums over all
 * positions, which take the store seconds over millions of rows.
 */
export class OpenPositions implements StateModel, HeldRows {
  readonly #table = new PositionTable()
  /** Rows of all positions, in the order of `holdings`. */
  readonly #positions = new RowOrder((a, b) => this.#table.compare(a, b))
  /** The same by wallet, then in that order; and by token, then wallet. */
  readonly #byWallet = new RowOrder(
    (a, b) => this.#table.wallet(a) - this.#table.wallet(b) || this.#table.compare(a, b),
  )
  readonly #byToken = new RowOrder(
    (a, b) =>
      this.#table.token(a) - this.#table.token(b) || this.#table.wallet(a) - this.#table.wallet(b),
  )
  /** Tokens in the order of `held`. */
  readonly #tokens = new RowOrder((a, b) => this.#table.tokens.compare(a, b))
  /** Positions that begin after the marker: their partition is ahead. */
  readonly #early = new Map<string, PositionVersion>()
  #marker = 0

  async load(store: Store, stored: StoredSlot | null): Promise<void> {
    const table = this.#table
    const blockTime = stored?.blockTime ?? 0
    const early: number[] = []
    const large = await readLargePositions(store)
    const last = await newestPositionWallet(store)
    let [from, wallets] = [0, FIRST_WALLETS]
    for (let reading = readOpenPositions(store, from, wallets - 1); from <= last; ) {
      const found = await reading
      const size = found.words.length / PACKED_WORDS
      from += wallets
      wallets = Math.ceil(wallets * Math.min(4, AT_ONCE / Math.max(1, size)))
      // The store reads the next positions while these are added.
      if (from <= last) reading = readOpenPositions(store, from, from + wallets - 1)
      for (let at = 0; at < size; at++) {
        const row = table.addPacked(found, at)
        if (table.firstTradeTime(row) > blockTime) early.push(row)
      }
    }
    await this.#sort()
    for (const row of early) {
      this.#takeAll([{ ...table.row(row), version: '0', is_deleted: 0 }], blockTime)
      this.#remove(row)
    }
    this.#takeAll(large, blockTime)
  }

  apply(changes: readonly StateChange[], { blockTime }: StoredSlot): void {
    this.#marker += 1
    const rows = [...this.#early.values()]
    this.#early.clear()
    for (const { table, row } of changes)
      if (table === 'positions') rows.push(row as unknown as PositionVersion) // rows of the table
    this.#takeAll(rows, blockTime)
  }

  /** Returns the tokens that at least so many wallets hold, in the order of rule C17. */
  held(page: {
    readonly minWallets: number
    readonly offset: number
    readonly limit: number
  }): PageOf<HeldTokenRow> {
    const { minWallets, offset, limit } = page
    const { tokens } = this.#table
    const total = this.#tokens.countBefore((token) => tokens.holders(token) < minWallets)
    const found = this.#tokens.slice(offset, Math.min(total, offset + limit))
    return { rows: Array.from(found, (token) => this.#heldToken(token)), total }
  }

  /** Returns the `limit` tokens with most holders, in the order of rule C17. */
  mostHeld(limit: number): readonly string[] {
    return Array.from(this.#tokens.slice(0, limit), (token) => this.#table.tokens.mint(token))
  }

  /** Returns how many wallets hold a mint. */
  holdersOf(mint: string): number {
    const { tokens } = this.#table
    const token = tokens.find(wordsOf(mint))
    return token === 0 ? 0 : tokens.holders(token)
  }

  /**
   * Returns open positions of one wallet or of all (null), held for a time within bounds at block
   * time `now`: by newest trade descending, then mint, then wallet (rules C17, C22).
   */
  holdings(
    now: number,
    filter: {
      readonly wallet: number | null
      readonly minSeconds: number
      readonly maxSeconds: number | null
    },
    { offset, limit }: { readonly offset: number; readonly limit: number },
  ): PageOf<HeldPositionRow> {
    const { wallet, minSeconds, maxSeconds } = filter
    const newest = now - minSeconds
    const oldest = maxSeconds === null ? 0 : now - maxSeconds
    const page = (rows: ArrayLike<number>, total: number) => ({
      rows: Array.from(rows, (row) => this.row(row)),
      total,
    })
    if (wallet !== null) {
      const own = this.ofWallet(wallet).filter((row) => this.#isWithin(row, oldest, newest))
      return page(own.slice(offset, offset + limit), own.length)
    }
    if (minSeconds === 0 && maxSeconds === null)
      return page(this.#positions.slice(offset, offset + limit), this.#positions.size)
    const total = this.#table.countFirstTrades(oldest, newest)
    if (offset >= total) return page([], total)
    const isWithin = (row: number) => this.#isWithin(row, oldest, newest)
    return page(this.#positions.filter(isWithin, offset, limit), total)
  }

  get marker(): number {
    return this.#marker
  }

  ofWallet(wallet: number): Uint32Array {
    return this.#byWallet.range((row) => this.#table.wallet(row) - wallet)
  }

  row(row: number): HeldPositionRow {
    return this.#table.row(row)
  }

  firstTradeTime(row: number): number {
    return this.#table.firstTradeTime(row)
  }

  changedAt(row: number): number {
    return this.#table.changedAt(row)
  }

  /** Sorts all rows after the first read. */
  async #sort(): Promise<void> {
    const table = this.#table
    const { tokens } = table
    const rows = new Uint32Array(table.size).map((_, row) => row)
    const byTime = (row: number) => ~table.lastTradeTime(row)
    await sortByKeys(rows, [byTime], (a, b) => table.compare(a, b))
    this.#positions.fill(rows)
    await sortByKeys(rows, [(row) => table.wallet(row)])
    this.#byWallet.fill(rows)
    await sortByKeys(rows, [(row) => table.token(row)])
    this.#byToken.fill(rows)
    const held = new Uint32Array(tokens.size).map((_, at) => at + 1)
    await sortByKeys(held, tokens.keys(), (a, b) => tokens.compare(a, b))
    this.#tokens.fill(held)
  }

  #isWithin(row: number, oldest: number, newest: number): boolean {
    const time = this.#table.firstTradeTime(row)
    return time >= oldest && time <= newest
  }

  #takeAll(rows: readonly PositionVersion[], blockTime: number): void {
    for (const row of rows) {
      const key = `${row.wallet} ${row.mint}`
      const isEarly = (row.first_trade_time ?? 0) > blockTime
      if (isEarly) this.#early.set(key, row)
      else {
        this.#early.delete(key)
        this.#take(row)
      }
    }
  }

  #take(version: PositionVersion): void {
    const { wallet, mint } = version
    const token = this.#table.tokens.find(wordsOf(mint))
    const [before] = this.#byToken.range(
      (row) => this.#table.token(row) - token || this.#table.wallet(row) - wallet,
    )
    if (before !== undefined) this.#remove(before)
    if (isOpen(version)) this.#add(version)
  }

  #add(position: HeldPositionRow): void {
    const token = this.#table.tokens.find(wordsOf(position.mint))
    if (token !== 0) this.#tokens.remove(token)
    const row = this.#table.add(position, this.#marker)
    this.#tokens.add(this.#table.token(row))
    for (const order of [this.#positions, this.#byWallet, this.#byToken]) order.add(row)
  }

  #remove(row: number): void {
    const token = this.#table.token(row)
    this.#tokens.remove(token)
    for (const order of [this.#positions, this.#byWallet, this.#byToken]) order.remove(row)
    this.#table.remove(row)
    if (this.#table.tokens.holders(token) > 0) this.#tokens.add(token)
  }

  #heldToken(token: number): HeldTokenRow {
    const { tokens } = this.#table
    const rows = this.#byToken.range((row) => this.#table.token(row) - token)
    return {
      mint: tokens.mint(token),
      decimals: this.#table.decimals(rows[0]!),
      wallets: Array.from(rows, (row) => this.#table.wallet(row)),
      held_amount: tokens.held(token).toString(),
      bought_lamports: tokens.boughtLamports(token).toString(),
    }
  }
}

/** Whether a position is open, counting swaps only. */
function isOpen(row: PositionVersion): row is PositionVersion & HeldPositionRow {
  if (row.is_deleted !== 0 || row.first_trade_time === null || row.last_trade_time === null)
    return false
  return BigInt(row.bought_amount) > BigInt(row.sold_amount)
}

/** Wallets of the first query of a start, and positions that a later one has about. */
const FIRST_WALLETS = 2000
const AT_ONCE = 25_000
