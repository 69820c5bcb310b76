import { addNewest, openLots } from '../fold/fifo.ts'
import { createHolder, type Holder, type HolderSums, isHolding } from './holder.ts'

/*
 * A position as text of one byte a character: some 70 bytes, where the object with its numbers and
 * lots takes 600. The first character says whether the wallet holds the token. Each number after it
 * is the count of its bytes, then the bytes, lowest first; or NONE.
 */
const HOLDS = 1
const HOLDS_NOT = 0
const NONE = 0xff
/** Longest number, in bytes with its count. Sums of amounts (u128) are shorter. */
const NUMBER_BYTES = 32
/** A number is read and written in parts of this many bytes: a double is exact up to 2^53. */
const PART_BYTES = 6
const PART_BITS = BigInt(8 * PART_BYTES)
const PART_END = 1n << PART_BITS
const PART_MASK = PART_END - 1n

/** Where positions are packed; it grows. */
let scratch = Buffer.alloc(1024)

/** Returns the packed form of a position. */
export function packHolder(holder: Holder): string {
  const { firstBuy, firstTradeAt } = holder
  const numbers = [
    BigInt(holder.newestAt),
    firstTradeAt === null ? null : BigInt(firstTradeAt),
    holder.bought,
    holder.sold,
    holder.boughtLamports,
    holder.openCost,
    firstBuy?.amount ?? null,
    firstBuy?.value ?? null,
    firstBuy?.solUsdE9 ?? null,
  ]
  // Nothing has been taken of most lots, and a zero is one byte.
  for (const { amount, cost, left, leftCost } of openLots(holder))
    numbers.push(amount, cost, amount - left, cost - leftCost)
  const most = 1 + numbers.length * NUMBER_BYTES
  if (scratch.length < most) scratch = Buffer.alloc(2 * most)
  scratch[0] = isHolding(holder) ? HOLDS : HOLDS_NOT
  let end = 1
  for (const number of numbers) end = write(number, end)
  return scratch.toString('latin1', 0, end)
}

/** Whether the wallet of a packed position holds the token (rule C14). */
export function isPackedHolding(packed: string): boolean {
  return packed.charCodeAt(0) === HOLDS
}

/** Returns the position of a wallet from its packed form. */
export function unpackHolder(wallet: number, packed: string): Holder {
  const reader = new PackedReader(packed)
  const holder = reader.sums(wallet)
  while (!reader.isAtEnd) {
    const amount = reader.number()
    const cost = reader.number()
    const left = amount - reader.number()
    addNewest(holder, { amount, cost, left, leftCost: cost - reader.number(), next: null })
  }
  return holder
}

/** Returns the same without its lots, which is faster. */
export function unpackSums(wallet: number, packed: string): HolderSums {
  return new PackedReader(packed).sums(wallet)
}

/** Writes a number, or null, at a place of `scratch`; returns the place after it. */
function write(number: bigint | null, start: number): number {
  if (number === null) {
    scratch[start] = NONE
    return start + 1
  }
  let end = start + 1
  let rest = number
  for (; rest >= PART_END; rest >>= PART_BITS) {
    scratch.writeUIntLE(Number(rest & PART_MASK), end, PART_BYTES)
    end += PART_BYTES
  }
  for (let part = Number(rest); part > 0; part = Math.floor(part / 256)) scratch[end++] = part % 256
  scratch[start] = end - start - 1
  return end
}

/** Reads the numbers of a packed position in order. */
class PackedReader {
  readonly #text: string
  #at = 1

  constructor(text: string) {
    this.#text = text
  }

  get isAtEnd(): boolean {
    return this.#at === this.#text.length
  }

  /** A position with the numbers before those of the lots. */
  sums(wallet: number): Holder {
    const holder = createHolder(wallet)
    holder.newestAt = this.#time() ?? 0
    holder.firstTradeAt = this.#time()
    holder.bought = this.number()
    holder.sold = this.number()
    holder.boughtLamports = this.number()
    holder.openCost = this.number()
    const amount = this.#nullable()
    const value = this.#nullable()
    const solUsdE9 = this.#nullable()
    if (amount !== null) holder.firstBuy = { amount, value, solUsdE9 }
    return holder
  }

  number(): bigint {
    const number = this.#nullable()
    if (number === null) throw new Error('a packed position lacks a number')
    return number
  }

  /** Unix seconds. */
  #time(): number | null {
    const length = this.#length()
    return length === null ? null : this.#part(this.#at, length)
  }

  #nullable(): bigint | null {
    const length = this.#length()
    if (length === null) return null
    if (length <= PART_BYTES) return BigInt(this.#part(this.#at, length))
    let number = 0n
    for (let end = this.#at, left = length; left > 0; ) {
      // The highest part comes first; only it may be short.
      const bytes = left % PART_BYTES || PART_BYTES
      number = (number << PART_BITS) | BigInt(this.#part(end, bytes))
      end -= bytes
      left -= bytes
    }
    return number
  }

  /** The length of the next number, whose end becomes the place; null if there is none. */
  #length(): number | null {
    const length = this.#text.charCodeAt(this.#at++)
    if (length === NONE) return null
    this.#at += length
    return length
  }

  /** The number whose `bytes` bytes end at a place. */
  #part(end: number, bytes: number): number {
    let part = 0
    for (let at = end - 1; at >= end - bytes; at--) part = part * 256 + this.#text.charCodeAt(at)
    return part
  }
}
