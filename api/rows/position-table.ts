import type { HeldPositionRow } from '../../pipeline/store/tables/positions.ts'

/** An open position. The highest version counts. */
export interface OpenPosition extends HeldPositionRow {
  readonly version: number
}

/**
 * A table of positions in typed arrays, some 100 bytes each. As objects they would take several
 * hundred bytes, and the garbage collector would mark all of them, which takes longer than a
 * response may. A position is identified by its row until it is removed.
 */
export class PositionTable {
  #wallets = new Uint32Array(FIRST_PLACES)
  #mints = new Uint32Array(FIRST_PLACES)
  #decimals = new Uint8Array(FIRST_PLACES)
  #firstTrades = new Uint32Array(FIRST_PLACES)
  #lastTrades = new Uint32Array(FIRST_PLACES)
  #versions = new Float64Array(FIRST_PLACES)
  #serials = new Float64Array(FIRST_PLACES)
  /** Four sums per row, each as its lower and its upper half. */
  #sums = new BigUint64Array(FIRST_PLACES * WORDS)
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
  add(position: OpenPosition): number {
    const place = this.#free.pop() ?? this.#end++
    if (place === this.#wallets.length) this.#grow()
    this.#wallets[place] = position.wallet
    this.#mints[place] = this.#mintNames.use(position.mint)
    this.#decimals[place] = position.decimals
    this.#firstTrades[place] = position.first_trade_time
    this.#lastTrades[place] = position.last_trade_time
    this.#versions[place] = position.version
    this.#serials[place] = PositionTable.#serial++
    this.#setSum(place, 0, position.bought_amount)
    this.#setSum(place, 1, position.sold_amount)
    this.#setSum(place, 2, position.bought_lamports)
    this.#setSum(place, 3, position.sold_lamports)
    return place
  }

  /** Removes the position of a row. The row is then reused. */
  remove(place: number): void {
    this.#mintNames.drop(this.#mints[place]!)
    this.#free.push(place)
  }

  row(place: number): OpenPosition {
    return {
      wallet: this.#wallets[place]!,
      mint: this.mint(place),
      decimals: this.#decimals[place]!,
      bought_amount: this.#sum(place, 0).toString(),
      sold_amount: this.#sum(place, 1).toString(),
      bought_lamports: BigInt.asIntN(128, this.#sum(place, 2)).toString(),
      sold_lamports: BigInt.asIntN(128, this.#sum(place, 3)).toString(),
      first_trade_time: this.#firstTrades[place]!,
      last_trade_time: this.#lastTrades[place]!,
      version: this.#versions[place]!,
    }
  }

  wallet(place: number): number {
    return this.#wallets[place]!
  }

  mint(place: number): string {
    return this.#mintNames.of(this.#mints[place]!)
  }

  firstTradeTime(place: number): number {
    return this.#firstTrades[place]!
  }

  version(place: number): number {
    return this.#versions[place]!
  }

  /**
   * Returns the serial number of the position in this row, unique over all tables: it distinguishes
   * positions that used the same row.
   */
  serial(place: number): number {
    return this.#serials[place]!
  }

  /** Newest trade first, then mint, then wallet (rule C17). */
  compare(a: number, b: number): number {
    const newer = this.#lastTrades[b]! - this.#lastTrades[a]!
    if (newer !== 0) return newer
    if (this.#mints[a] !== this.#mints[b]) return this.mint(a) < this.mint(b) ? -1 : 1
    return this.#wallets[a]! - this.#wallets[b]!
  }

  #setSum(place: number, index: number, text: string): void {
    const sum = BigInt(text)
    const word = place * WORDS + 2 * index
    this.#sums[word] = sum // truncated to 64 bits; negative sums are two's complement
    this.#sums[word + 1] = sum >> 64n
  }

  #sum(place: number, index: number): bigint {
    const word = place * WORDS + 2 * index
    return (this.#sums[word + 1]! << 64n) | this.#sums[word]!
  }

  #grow(): void {
    const places = this.#wallets.length * 2
    const longer = <T extends Column>(column: T, made: T): T => {
      made.set(column as never)
      return made
    }
    this.#wallets = longer(this.#wallets, new Uint32Array(places))
    this.#mints = longer(this.#mints, new Uint32Array(places))
    this.#decimals = longer(this.#decimals, new Uint8Array(places))
    this.#firstTrades = longer(this.#firstTrades, new Uint32Array(places))
    this.#lastTrades = longer(this.#lastTrades, new Uint32Array(places))
    this.#versions = longer(this.#versions, new Float64Array(places))
    this.#serials = longer(this.#serials, new Float64Array(places))
    this.#sums = longer(this.#sums, new BigUint64Array(places * WORDS))
  }
}

type Column = Uint8Array | Uint32Array | Float64Array | BigUint64Array

const FIRST_PLACES = 1024
const WORDS = 8

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
