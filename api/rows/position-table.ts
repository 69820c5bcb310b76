import type { HeldPositionRow, PositionColumns } from '../../pipeline/store/tables/positions.ts'

/**
 * A table of positions in typed arrays, 57 bytes each. As objects they would take several hundred
 * bytes, and the garbage collector would mark all of them, which takes longer than a response may.
 * A position is identified by its row until it is removed.
 */
export class PositionTable {
  #wallets = new Uint32Array(INITIAL_CAPACITY)
  #mints = new Uint32Array(INITIAL_CAPACITY)
  #decimals = new Uint8Array(INITIAL_CAPACITY)
  #firstTrades = new Uint32Array(INITIAL_CAPACITY)
  #lastTrades = new Uint32Array(INITIAL_CAPACITY)
  #serials = new Float64Array(INITIAL_CAPACITY)
  /** Four sums per row; a larger one is in `#large`. */
  #sums = new BigInt64Array(INITIAL_CAPACITY * SUMS)
  /** The halves of `#sums`, the lower one first, as all machines of the service have it. */
  #words = new Uint32Array(this.#sums.buffer)
  readonly #large = new Map<number, bigint>()
  #end = 0
  /** Shared by all tables, because one table may replace another. */
  static #serial = 0
  readonly #free: number[] = []
  readonly #mintNames = new Names()

  /** Number of positions. */
  get size(): number {
    return this.#end - this.#free.length
  }

  /** Adds a position and returns its row. */
  add(position: HeldPositionRow): number {
    const { wallet, mint, decimals, first_trade_time, last_trade_time } = position
    const rowIndex = this.#place(wallet, mint, decimals)
    this.#firstTrades[rowIndex] = first_trade_time
    this.#lastTrades[rowIndex] = last_trade_time
    this.#setSum(rowIndex, 0, position.bought_amount)
    this.#setSum(rowIndex, 1, position.sold_amount)
    this.#setSum(rowIndex, 2, position.bought_lamports)
    this.#setSum(rowIndex, 3, position.sold_lamports)
    return rowIndex
  }

  /** Adds one of many positions and returns its row. */
  addOf(columns: PositionColumns, at: number): number {
    const { wallets, mints, decimals, first_trades, last_trades, low, high } = columns
    const rowIndex = this.#place(wallets[at]!, mints[at]!, decimals[at]!)
    this.#firstTrades[rowIndex] = first_trades[at]!
    this.#lastTrades[rowIndex] = last_trades[at]!
    const words = this.#words
    for (let index = 0; index < SUMS; index++) {
      const word = 2 * (rowIndex * SUMS + index)
      words[word] = low[index]![at]!
      words[word + 1] = high[index]![at]!
    }
    return rowIndex
  }

  /** Removes the position of a row. The row is then reused. */
  remove(rowIndex: number): void {
    this.#mintNames.drop(this.#mints[rowIndex]!)
    for (let index = 0; index < SUMS; index++) this.#large.delete(rowIndex * SUMS + index)
    this.#free.push(rowIndex)
  }

  row(rowIndex: number): HeldPositionRow {
    return {
      wallet: this.#wallets[rowIndex]!,
      mint: this.mint(rowIndex),
      decimals: this.#decimals[rowIndex]!,
      bought_amount: this.#sum(rowIndex, 0).toString(),
      sold_amount: this.#sum(rowIndex, 1).toString(),
      bought_lamports: this.boughtLamports(rowIndex).toString(),
      sold_lamports: this.#sum(rowIndex, 3).toString(),
      first_trade_time: this.#firstTrades[rowIndex]!,
      last_trade_time: this.#lastTrades[rowIndex]!,
    }
  }

  wallet(rowIndex: number): number {
    return this.#wallets[rowIndex]!
  }

  mint(rowIndex: number): string {
    return this.#mintNames.of(this.#mints[rowIndex]!)
  }

  decimals(rowIndex: number): number {
    return this.#decimals[rowIndex]!
  }

  firstTradeTime(rowIndex: number): number {
    return this.#firstTrades[rowIndex]!
  }

  /** Amount bought less amount sold. */
  held(rowIndex: number): bigint {
    return this.#sum(rowIndex, 0) - this.#sum(rowIndex, 1)
  }

  boughtLamports(rowIndex: number): bigint {
    return this.#sum(rowIndex, 2)
  }

  /**
   * Returns the serial number of the position in this row, unique over all tables: it distinguishes
   * positions that used the same row.
   */
  serial(rowIndex: number): number {
    return this.#serials[rowIndex]!
  }

  /** Returns the one of these rows that has a mint; undefined if none has. */
  findMint(rowIndexes: readonly number[], mint: string): number | undefined {
    const number = this.#mintNames.find(mint)
    return number === undefined
      ? undefined
      : rowIndexes.find((rowIndex) => this.#mints[rowIndex] === number)
  }

  /** Newest trade first, then mint, then wallet (rule C17). */
  compare(a: number, b: number): number {
    const newer = this.#lastTrades[b]! - this.#lastTrades[a]!
    if (newer !== 0) return newer
    if (this.#mints[a] !== this.#mints[b]) return this.mint(a) < this.mint(b) ? -1 : 1
    return this.#wallets[a]! - this.#wallets[b]!
  }

  /** Oldest first trade first. */
  compareAge(a: number, b: number): number {
    return this.#firstTrades[a]! - this.#firstTrades[b]! || a - b
  }

  #place(wallet: number, mint: string, decimals: number): number {
    const rowIndex = this.#free.pop() ?? this.#end++
    if (rowIndex === this.#wallets.length) this.#grow()
    this.#wallets[rowIndex] = wallet
    this.#mints[rowIndex] = this.#mintNames.use(mint)
    this.#decimals[rowIndex] = decimals
    this.#serials[rowIndex] = PositionTable.#serial++
    return rowIndex
  }

  #setSum(rowIndex: number, index: number, text: string): void {
    const at = rowIndex * SUMS + index
    const sum = BigInt(text)
    this.#sums[at] = sum
    if (this.#sums[at] !== sum) this.#large.set(at, sum)
  }

  #sum(rowIndex: number, index: number): bigint {
    const at = rowIndex * SUMS + index
    return (this.#large.size > 0 ? this.#large.get(at) : undefined) ?? this.#sums[at]!
  }

  #grow(): void {
    const capacity = this.#wallets.length * 2
    const longer = <T extends Column>(column: T, made: T): T => {
      made.set(column as never)
      return made
    }
    this.#wallets = longer(this.#wallets, new Uint32Array(capacity))
    this.#mints = longer(this.#mints, new Uint32Array(capacity))
    this.#decimals = longer(this.#decimals, new Uint8Array(capacity))
    this.#firstTrades = longer(this.#firstTrades, new Uint32Array(capacity))
    this.#lastTrades = longer(this.#lastTrades, new Uint32Array(capacity))
    this.#serials = longer(this.#serials, new Float64Array(capacity))
    this.#sums = longer(this.#sums, new BigInt64Array(capacity * SUMS))
    this.#words = new Uint32Array(this.#sums.buffer)
  }
}

type Column = Uint8Array | Uint32Array | Float64Array | BigInt64Array

const INITIAL_CAPACITY = 1024
const SUMS = 4

/** Strings by number, with reference counts. */
class Names {
  readonly #numbers = new Map<string, number>()
  readonly #names: string[] = []
  readonly #uses: number[] = []
  readonly #free: number[] = []

  use(name: string): number {
    let number = this.#numbers.get(name)
    if (number === undefined) {
      number = this.#free.pop() ?? this.#names.length
      this.#numbers.set(name, number)
      this.#names[number] = name
      this.#uses[number] = 0
    }
    this.#uses[number]! += 1
    return number
  }

  find(name: string): number | undefined {
    return this.#numbers.get(name)
  }

  drop(number: number): void {
    this.#uses[number]! -= 1
    if (this.#uses[number] !== 0) return
    this.#numbers.delete(this.of(number))
    this.#names[number] = ''
    this.#free.push(number)
  }

  of(number: number): string {
    return this.#names[number] ?? ''
  }
}
