import type { StateChange } from '../../pipeline/log/state-log.ts'
import type { Store } from '../../pipeline/store/store.ts'
import {
  type HeldPositionRow,
  type HeldTokenRow,
  newestPositionWallet,
  type PageOf,
  type PositionVersion,
  readLargePositions,
  readOpenPositions,
} from '../../pipeline/store/tables/positions.ts'
import type { HeldRows } from '../items/held-rows.ts'
import type { StateModel, StoredSlot } from '../state-reader.ts'
import { PositionTable } from './position-table.ts'
import { SortedList } from './sorted-list.ts'

/**
 * The open positions of all wallets, in memory, some 120 bytes each. It answers sums over all
 * positions, which take the store seconds over millions of rows.
 */
export class OpenPositions implements StateModel {
  #table = new PositionTable()
  /** Rows of the table, by wallet. */
  readonly #byWallet = new Map<number, number[]>()
  /** Sorted lists of requested wallets, until they change. */
  readonly #sorted = new Map<number, HeldList>()
  readonly #byMint = new Map<string, HeldToken>()
  readonly #tokens = new SortedList<HeldToken>(byHolders)
  /** Rows of all positions, in the order of `holdings`, and by age. */
  readonly #positions = new SortedList<number>((a, b) => this.#table.compare(a, b))
  readonly #ages = new SortedList<number>((a, b) => this.#table.compareAge(a, b))

  /** Positions that begin after the marker: their partition is ahead. */
  readonly #early = new Map<string, PositionVersion>()

  async load(store: Store, stored: StoredSlot | null): Promise<void> {
    const found: number[] = []
    const table = this.#table
    const take = (rowIndex: number) => {
      if (table.firstTradeTime(rowIndex) > (stored?.blockTime ?? 0)) {
        const row = table.row(rowIndex)
        this.#early.set(keyOf(row), { ...row, version: '0', is_deleted: 0 })
        table.remove(rowIndex)
        return
      }
      found.push(rowIndex)
      const wallet = table.wallet(rowIndex)
      this.#listed(wallet).push(rowIndex)
      const token = this.#tokenOf(table.mint(rowIndex), table.decimals(rowIndex))
      token.wallets.push(wallet)
      count(token, table, rowIndex, 1n)
    }
    const last = await newestPositionWallet(store)
    for (let from = 0, wallets = FIRST_WALLETS; from <= last; ) {
      const columns = await readOpenPositions(store, from, from + wallets - 1)
      const size = columns?.wallets.length ?? 0
      if (columns) for (let at = 0; at < size; at++) take(table.addOf(columns, at))
      from += wallets
      wallets = Math.ceil(wallets * Math.min(4, AT_ONCE / Math.max(1, size)))
    }
    for (const row of await readLargePositions(store)) {
      const open = openPosition(row)
      if (open !== null) take(table.add(open))
    }
    for (const { wallets } of this.#byMint.values()) wallets.sort((a, b) => a - b)
    await this.#positions.fill(found)
    await this.#ages.fill(found)
    await this.#tokens.fill([...this.#byMint.values()])
  }

  apply(changes: readonly StateChange[], { blockTime }: StoredSlot): void {
    const rows = [...this.#early.values()]
    this.#early.clear()
    for (const { table, row } of changes)
      if (table === 'positions') rows.push(row as unknown as PositionVersion) // rows of the table
    for (const row of rows) {
      const isEarly = (row.first_trade_time ?? 0) > blockTime
      if (isEarly) this.#early.set(keyOf(row), row)
      else {
        this.#early.delete(keyOf(row))
        this.#take(row)
      }
    }
  }

  /** Returns the tokens that at least so many wallets hold, in the order of rule C17. */
  held(page: {
    readonly minWallets: number
    readonly offset: number
    readonly limit: number
  }): PageOf<HeldTokenRow> {
    const { minWallets, offset, limit } = page
    const total = this.#tokens.countBefore(({ wallets }) => wallets.length < minWallets)
    const end = Math.min(total, offset + limit)
    return { rows: this.#tokens.slice(offset, end).map(tokenRow), total }
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
    const isWithin = (rowIndex: number) => {
      const time = this.#table.firstTradeTime(rowIndex)
      return time <= newest && time >= oldest
    }
    const page = (rowIndexes: readonly number[], total: number) => ({
      rows: rowIndexes.map((rowIndex) => this.#table.row(rowIndex)),
      total,
    })
    if (wallet !== null) {
      const own = this.#listOf(wallet).rowIndexes.filter(isWithin)
      return page(own.slice(offset, offset + limit), own.length)
    }
    const from = this.#ages.countBefore((at) => this.#table.firstTradeTime(at) >= oldest)
    const to = this.#ages.countBefore((at) => this.#table.firstTradeTime(at) > newest)
    const total = Math.max(0, to - from)
    if (total === this.#positions.size)
      return page(this.#positions.slice(offset, offset + limit), total)
    if (offset >= total) return page([], total)
    if (total <= FEW) {
      const few = this.#ages.slice(from, to).sort((a, b) => this.#table.compare(a, b))
      return page(few.slice(offset, offset + limit), total)
    }
    const found: number[] = []
    let skip = offset
    for (const rowIndex of this.#positions.from(0)) {
      if (!isWithin(rowIndex) || skip-- > 0) continue
      found.push(rowIndex)
      if (found.length === limit) break
    }
    return page(found, total)
  }

  /**
   * Returns all open positions of a wallet, in the order of `holdings`; the same list until it
   * changes.
   */
  ofWallet(wallet: number): HeldRows {
    return this.#listOf(wallet)
  }

  #listOf(wallet: number): HeldList {
    const known = this.#sorted.get(wallet)
    if (known !== undefined) return known
    const table = this.#table
    const rowIndexes = [...(this.#byWallet.get(wallet) ?? [])].sort((a, b) => table.compare(a, b))
    const list = new HeldList(table, rowIndexes)
    if (this.#sorted.size >= MOST_LISTS) this.#sorted.clear()
    this.#sorted.set(wallet, list)
    return list
  }

  #take(row: PositionVersion): void {
    const { wallet, mint } = row
    const next = openPosition(row)
    const listed = this.#byWallet.get(wallet) ?? []
    const before = this.#table.findMint(listed, mint)
    if (before === undefined && next === null) return
    this.#sorted.delete(wallet)
    const token = this.#tokenOf(mint, row.decimals)
    if (token.wallets.length > 0) this.#tokens.remove(token)
    if (before !== undefined) {
      count(token, this.#table, before, -1n)
      this.#positions.remove(before)
      this.#ages.remove(before)
      this.#table.remove(before)
      listed.splice(listed.indexOf(before), 1)
      token.wallets.splice(token.wallets.indexOf(wallet), 1)
    }
    if (next !== null) {
      const rowIndex = this.#table.add(next)
      count(token, this.#table, rowIndex, 1n)
      this.#positions.add(rowIndex)
      this.#ages.add(rowIndex)
      this.#listed(wallet).push(rowIndex)
      const place = token.wallets.findIndex((other) => other > wallet)
      token.wallets.splice(place < 0 ? token.wallets.length : place, 0, wallet)
      token.decimals = next.decimals
    }
    if (token.wallets.length > 0) this.#tokens.add(token)
    else this.#byMint.delete(mint)
    if (listed.length === 0 && next === null) this.#byWallet.delete(wallet)
  }

  #listed(wallet: number): number[] {
    let listed = this.#byWallet.get(wallet)
    if (listed === undefined) {
      listed = []
      this.#byWallet.set(wallet, listed)
    }
    return listed
  }

  #tokenOf(mint: string, decimals: number): HeldToken {
    let token = this.#byMint.get(mint)
    if (token === undefined) {
      token = { mint, decimals, wallets: [], held: 0n, boughtLamports: 0n }
      this.#byMint.set(mint, token)
    }
    return token
  }
}

const keyOf = ({ wallet, mint }: Pick<PositionVersion, 'wallet' | 'mint'>) => `${wallet} ${mint}`

/** Open positions of a wallet, valid until one changes: table rows are reused then. */
class HeldList implements HeldRows {
  readonly #table: PositionTable
  readonly rowIndexes: readonly number[]
  readonly serials: readonly number[]

  constructor(table: PositionTable, rowIndexes: readonly number[]) {
    this.#table = table
    this.rowIndexes = rowIndexes
    this.serials = rowIndexes.map((rowIndex) => table.serial(rowIndex))
  }

  row(index: number): HeldPositionRow {
    return this.#table.row(this.rowIndexes[index]!)
  }

  firstTradeTime(index: number): number {
    return this.#table.firstTradeTime(this.rowIndexes[index]!)
  }
}

/** A mint with its holders, by wallet number, and sums over them. */
interface HeldToken {
  readonly mint: string
  decimals: number
  readonly wallets: number[]
  held: bigint
  boughtLamports: bigint
}

function count(token: HeldToken, table: PositionTable, rowIndex: number, sign: bigint): void {
  token.held += sign * table.held(rowIndex)
  token.boughtLamports += sign * table.boughtLamports(rowIndex)
}

/** Returns an open position, counting swaps only; null if the row is no such position. */
function openPosition(row: PositionVersion): HeldPositionRow | null {
  const { first_trade_time, last_trade_time } = row
  if (row.is_deleted !== 0 || first_trade_time === null || last_trade_time === null) return null
  if (BigInt(row.bought_amount) <= BigInt(row.sold_amount)) return null
  return row as HeldPositionRow
}

function tokenRow({ mint, decimals, wallets, held, boughtLamports }: HeldToken): HeldTokenRow {
  return {
    mint,
    decimals,
    wallets,
    held_amount: held.toString(),
    bought_lamports: boughtLamports.toString(),
  }
}

/** Most holders first, then most SOL spent, then mint (rule C17). */
function byHolders(a: HeldToken, b: HeldToken): number {
  if (a.wallets.length !== b.wallets.length) return b.wallets.length - a.wallets.length
  if (a.boughtLamports !== b.boughtLamports) return a.boughtLamports > b.boughtLamports ? -1 : 1
  return a.mint < b.mint ? -1 : a.mint > b.mint ? 1 : 0
}

/** Wallets of the first query of a start, and positions that a later one has about. */
const FIRST_WALLETS = 2000
const AT_ONCE = 50_000
/** So many positions are rather sorted than searched for among all. */
const FEW = 20_000
/** Sorted lists that are kept. */
const MOST_LISTS = 10_000
