import {
  type HeldPositionRow,
  PACKED_WORDS,
  type PackedPositions,
} from '../../pipeline/store/tables/positions.ts'
import { BigColumn, Uint32Column } from './columns.ts'
import { TokenTable, wordsOf } from './token-table.ts'

/**
 * A table of positions in typed arrays, 60 bytes each, with its tokens. As objects they would take
 * several hundred bytes, and the garbage collector would mark all of them, which takes longer than
 * a response may. A position is identified by its row until it is removed.
 */
export class PositionTable {
  readonly tokens = new TokenTable()
  readonly #wallets = new Uint32Column()
  readonly #tokenOf = new Uint32Column()
  readonly #decimals = new Uint32Column()
  readonly #firstTrades = new Uint32Column()
  readonly #lastTrades = new Uint32Column()
  readonly #changes = new Uint32Column()
  /** Four per row. */
  readonly #sums = new BigColumn()
  #end = 0
  readonly #free: number[] = []

  /** Number of positions. */
  get size(): number {
    return this.#end - this.#free.length
  }

  /** Adds a position, which changed with the marker of a number, and returns its row. */
  add(position: HeldPositionRow, marker: number): number {
    const { wallet, mint, decimals, first_trade_time, last_trade_time } = position
    const row = this.#place(wallet, decimals, first_trade_time, last_trade_time, marker)
    this.#sums.set(4 * row, BigInt(position.bought_amount))
    this.#sums.set(4 * row + 1, BigInt(position.sold_amount))
    this.#sums.set(4 * row + 2, BigInt(position.bought_lamports))
    this.#sums.set(4 * row + 3, BigInt(position.sold_lamports))
    this.#countIn(row, wordsOf(mint), 0)
    return row
  }

  /** Adds one of packed positions, which changed with marker 0, and returns its row. */
  addPacked({ words, longs }: PackedPositions, at: number): number {
    const start = at * PACKED_WORDS
    const row = this.#place(
      words[start]!,
      words[start + 1]!,
      words[start + 2]!,
      words[start + 3]!,
      0,
    )
    for (let sum = 0; sum < 4; sum++) this.#sums.set(4 * row + sum, longs[start / 2 + 2 + sum]!)
    this.#countIn(row, words, start + 12)
    return row
  }

  /** Removes the position of a row. The row is then reused, like a token without holders. */
  remove(row: number): void {
    this.tokens.removeHolder(this.token(row), this.held(row), this.boughtLamports(row))
    for (let sum = 0; sum < 4; sum++) this.#sums.set(4 * row + sum, 0n)
    this.#firstTrades.set(row, NEVER)
    this.#free.push(row)
  }

  row(row: number): HeldPositionRow {
    return {
      wallet: this.wallet(row),
      mint: this.tokens.mint(this.token(row)),
      decimals: this.decimals(row),
      bought_amount: this.#sums.get(4 * row).toString(),
      sold_amount: this.#sums.get(4 * row + 1).toString(),
      bought_lamports: this.boughtLamports(row).toString(),
      sold_lamports: this.#sums.get(4 * row + 3).toString(),
      first_trade_time: this.firstTradeTime(row),
      last_trade_time: this.lastTradeTime(row),
    }
  }

  wallet(row: number): number {
    return this.#wallets.get(row)
  }

  token(row: number): number {
    return this.#tokenOf.get(row)
  }

  decimals(row: number): number {
    return this.#decimals.get(row)
  }

  firstTradeTime(row: number): number {
    return this.#firstTrades.get(row)
  }

  lastTradeTime(row: number): number {
    return this.#lastTrades.get(row)
  }

  /** Number of the marker with which the position changed, 0 for one that was read at the start. */
  changedAt(row: number): number {
    return this.#changes.get(row)
  }

  /** Amount bought less amount sold. */
  held(row: number): bigint {
    return this.#sums.get(4 * row) - this.#sums.get(4 * row + 1)
  }

  boughtLamports(row: number): bigint {
    return this.#sums.get(4 * row + 2)
  }

  /** Number of positions with a first trade from `least` to `most`. */
  countFirstTrades(least: number, most: number): number {
    return this.#firstTrades.count(this.#end, least, Math.min(most, NEVER - 1))
  }

  /** Newest trade first, then mint, then wallet (rule C17). */
  compare(a: number, b: number): number {
    return (
      this.lastTradeTime(b) - this.lastTradeTime(a) ||
      this.tokens.compareMints(this.token(a), this.token(b)) ||
      this.wallet(a) - this.wallet(b)
    )
  }

  #place(wallet: number, decimals: number, first: number, last: number, marker: number): number {
    const row = this.#free.pop() ?? this.#end++
    this.#wallets.set(row, wallet)
    this.#decimals.set(row, decimals)
    this.#firstTrades.set(row, first)
    this.#lastTrades.set(row, last)
    this.#changes.set(row, marker)
    return row
  }

  #countIn(row: number, mints: Uint32Array, from: number): void {
    const token = this.tokens.addHolder(mints, from, this.held(row), this.boughtLamports(row))
    this.#tokenOf.set(row, token)
  }
}

/** First trade of a row without a position. The clock of blocks is at 1,790,000,000. */
const NEVER = 2 ** 32 - 1
