import type { Store } from '../../pipeline/store/store.ts'
import {
  type HeldPositionRow,
  type HeldTokenRow,
  newestPositionWallet,
  type PageOf,
  type PositionVersion,
  readOpenPositions,
} from '../../pipeline/store/tables/positions.ts'
import type { HeldRows } from '../items/held-rows.ts'
import type { StoragePosition } from '../storage-position.ts'
import type { PositionChangeSet, PositionChanges } from './position-changes.ts'
import { type OpenPosition, PositionTable } from './position-table.ts'
import { SortedList } from './sorted-list.ts'

/**
 * A read model of every open position, in memory: read once, then updated by the changes of each
 * marker. It answers sums over all positions, which take the store seconds over millions of rows.
 *
 * It is not ready while it is read, during a burst of writes, and beyond `most` positions (default
 * 1,000,000, some 200 MB). The store is queried then.
 */
export class OpenPositions {
  readonly #store: Store
  readonly #changes: PositionChanges
  readonly #position: Pick<StoragePosition, 'stored'>
  readonly #most: number
  #state: 'unread' | 'reading' | 'read' | 'too many' = 'unread'
  /** Changes that arrived during the first read. */
  #waiting: PositionChangeSet[] = []
  #table = new PositionTable()
  /** Rows of the table, by wallet and mint. */
  #byWallet = new Map<number, Map<string, number>>()
  /** Sorted lists of requested wallets, until they change. */
  readonly #sorted = new Map<number, HeldList>()
  #byMint = new Map<string, HeldToken>()
  #tokens = new SortedList<HeldToken>(byHolders)
  /** Rows of all positions, in order. */
  #positions = new SortedList<number>((a, b) => this.#table.compare(a, b))

  constructor(deps: {
    readonly store: Store
    readonly changes: PositionChanges
    readonly position: Pick<StoragePosition, 'stored'>
    readonly most?: number
  }) {
    this.#store = deps.store
    this.#changes = deps.changes
    this.#position = deps.position
    this.#most = deps.most ?? 1_000_000
    this.#changes.listen((changes) => this.#take(changes))
  }

  /**
   * Whether the model is complete as of the newest marker. The first call starts the first read.
   */
  async ready(): Promise<boolean> {
    if (this.#position.stored() === null) return false
    await this.#changes.refresh()
    if (this.#state === 'unread' && !this.#changes.isBurst) void this.read().catch(() => {})
    return this.#state === 'read'
  }

  /**
   * Reads all positions, a few wallets at a time. Rejects when the store does not answer; the next
   * `ready` starts again.
   */
  async read(): Promise<void> {
    this.#state = 'reading'
    try {
      // Changes from before this read are harmless.
      await this.#changes.refresh()
      this.#clear()
      const found: number[] = []
      const last = await newestPositionWallet(this.#store)
      for (let from = 0; from <= last; from += WALLETS_AT_ONCE) {
        const now = this.#position.stored()?.blockTime ?? 0
        const rows = await readOpenPositions(this.#store, from, from + WALLETS_AT_ONCE - 1)
        found.push(...this.#takeIn(rows, now).added)
        if (this.#isTooMuch()) return
      }
      await this.#positions.fill(found)
      await this.#tokens.fill([...this.#byMint.values()])
      const waiting = this.#waiting.splice(0)
      for (const { positions, stored } of waiting) this.#apply(positions, stored.blockTime)
      if (!this.#isTooMuch())
        this.#state = waiting.some(({ mints }) => mints === null) ? 'unread' : 'read'
    } catch (error) {
      this.#state = 'unread'
      this.#waiting = []
      throw error
    }
  }

  /** Returns the same page as `readHeldTokens`, from memory. */
  held(page: {
    readonly minWallets: number
    readonly offset: number
    readonly limit: number
  }): PageOf<HeldTokenRow> {
    const { minWallets, offset, limit } = page
    const total = this.#tokens.countBefore(({ wallets }) => wallets.length < minWallets)
    return {
      rows: this.#tokens.items.slice(offset, Math.min(total, offset + limit)).map(tokenRow),
      total,
    }
  }

  /** The same as `readHoldings`. */
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
    const all = wallet === null ? this.#positions.items : this.#listOf(wallet).rowIndexes
    const isWithin = (rowIndex: number) => {
      const seconds = now - this.#table.firstTradeTime(rowIndex)
      return seconds >= minSeconds && (maxSeconds === null || seconds <= maxSeconds)
    }
    const found = minSeconds === 0 && maxSeconds === null ? all : all.filter(isWithin)
    const rows = found.slice(offset, offset + limit).map((rowIndex) => this.#table.row(rowIndex))
    return { rows, total: found.length }
  }

  /**
   * Returns all open positions of a wallet, in the order of `readHoldings`; the same list until it
   * changes.
   */
  ofWallet(wallet: number): HeldRows {
    return this.#listOf(wallet)
  }

  #listOf(wallet: number): HeldList {
    const known = this.#sorted.get(wallet)
    if (known !== undefined) return known
    const table = this.#table
    const rowIndexes = [...(this.#byWallet.get(wallet)?.values() ?? [])].sort((a, b) =>
      table.compare(a, b),
    )
    const list = new HeldList(table, rowIndexes)
    this.#sorted.set(wallet, list)
    return list
  }

  #take(changes: PositionChangeSet): void {
    if (this.#state === 'unread' || this.#state === 'too many') return
    if (this.#state === 'reading') this.#waiting.push(changes)
    else if (changes.mints === null) this.#state = 'unread'
    else this.#apply(changes.positions, changes.stored.blockTime)
    if (this.#state === 'read') this.#isTooMuch()
  }

  #isTooMuch(): boolean {
    if (this.#table.size <= this.#most) return false
    this.#state = 'too many'
    this.#clear()
    return true
  }

  #clear(): void {
    this.#table = new PositionTable()
    this.#byWallet = new Map()
    this.#sorted.clear()
    this.#byMint = new Map()
    this.#tokens = new SortedList(byHolders)
    this.#positions = new SortedList((a, b) => this.#table.compare(a, b))
  }

  #apply(rows: readonly PositionVersion[], now: number): void {
    const { removed, added, before } = this.#takeIn(rows, now)
    this.#positions.change(removed, added)
    this.#tokens.change(
      [...before.values()].filter((token) => token !== undefined),
      [...before.keys()].flatMap((mint) => this.#byMint.get(mint) ?? []),
    )
    // Rows are freed last, because the lists referred to them until now.
    for (const rowIndex of removed) this.#table.remove(rowIndex)
  }

  /**
   * Applies versions first traded at or before block time `now`; later ones are reported again.
   * Returns what changes in the sorted lists.
   */
  #takeIn(rows: readonly PositionVersion[], now: number) {
    const removed: number[] = []
    const added: number[] = []
    /** The previous state of each changed mint. */
    const before = new Map<string, HeldToken | undefined>()
    for (const row of rows) {
      if ((row.first_trade_time ?? 0) > now) continue
      const ofWallet = this.#byWallet.get(row.wallet) ?? new Map<string, number>()
      const rowIndex = ofWallet.get(row.mint)
      const version = Number(row.version)
      if (rowIndex !== undefined && this.#table.version(rowIndex) >= version) continue
      const next = openPosition(row, version)
      if (rowIndex === undefined && next === null) continue
      this.#sorted.delete(row.wallet)
      const token = this.#byMint.get(row.mint)
      if (!before.has(row.mint)) before.set(row.mint, token)
      const known = rowIndex === undefined ? undefined : this.#table.row(rowIndex)
      if (rowIndex !== undefined) {
        removed.push(rowIndex)
        ofWallet.delete(row.mint)
      }
      if (next !== null) {
        const taken = this.#table.add(next)
        added.push(taken)
        ofWallet.set(this.#table.mint(taken), taken)
        this.#byWallet.set(row.wallet, ofWallet)
      }
      const after = changedToken(token, known, next)
      if (after === null) this.#byMint.delete(row.mint)
      else this.#byMint.set(after.mint, after)
    }
    return { removed, added, before }
  }
}

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
  readonly decimals: number
  readonly wallets: readonly number[]
  readonly held: bigint
  readonly boughtLamports: bigint
}

function openPosition(row: PositionVersion, version: number): OpenPosition | null {
  const { first_trade_time, last_trade_time } = row
  if (row.is_deleted !== 0 || first_trade_time === null || last_trade_time === null) return null
  if (BigInt(row.bought_amount) <= BigInt(row.sold_amount)) return null
  // Fields are written out: see `infra/decisions/object-spreads.md`.
  return {
    wallet: row.wallet,
    mint: row.mint,
    decimals: row.decimals,
    bought_amount: row.bought_amount,
    sold_amount: row.sold_amount,
    bought_lamports: row.bought_lamports,
    sold_lamports: row.sold_lamports,
    first_trade_time,
    last_trade_time,
    version,
  }
}

function changedToken(
  token: HeldToken | undefined,
  before: OpenPosition | undefined,
  after: OpenPosition | null,
): HeldToken | null {
  const wallet = after?.wallet ?? before?.wallet ?? 0
  const others = (token?.wallets ?? []).filter((other) => other !== wallet)
  const wallets = after === null ? others : [...others, wallet].sort((a, b) => a - b)
  if (wallets.length === 0) return null
  const sum = (base: bigint, of: (position: OpenPosition) => bigint) =>
    base - (before === undefined ? 0n : of(before)) + (after === null ? 0n : of(after))
  return {
    mint: token?.mint ?? after?.mint ?? '',
    decimals: after?.decimals ?? token?.decimals ?? 0,
    wallets,
    held: sum(token?.held ?? 0n, (one) => BigInt(one.bought_amount) - BigInt(one.sold_amount)),
    boughtLamports: sum(token?.boughtLamports ?? 0n, (one) => BigInt(one.bought_lamports)),
  }
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
  return byText(a.mint, b.mint)
}

function byText(a: string, b: string): number {
  return a < b ? -1 : a > b ? 1 : 0
}

const WALLETS_AT_ONCE = 5
