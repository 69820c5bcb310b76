import assert from 'node:assert'
import { BigColumn, Uint32Column } from './columns.ts'
import type { RowKey } from './sort-by-keys.ts'

/** 32-bit words of a mint's text, which is at most 44 characters; zero bytes follow. */
export const MINT_WORDS = 12

/**
 * Tokens with their holders and sums over these, in typed arrays. A token is a number, 1 or more,
 * until it has no holder; the number is then reused.
 */
export class TokenTable {
  readonly #mints = new Uint32Column()
  readonly #holders = new Uint32Column()
  /** Two per token: the amount held, and lamports spent. */
  readonly #sums = new BigColumn()
  /** First token of each bucket of mints, and the next one in the bucket of a token; 0: none. */
  readonly #buckets = new Uint32Array(BUCKETS)
  readonly #next = new Uint32Column()
  #end = 1
  readonly #free: number[] = []

  /** Number of tokens. */
  get size(): number {
    return this.#end - 1 - this.#free.length
  }

  /** Returns the token of a mint, which is `MINT_WORDS` words from `from` on; 0 if none has it. */
  find(words: Uint32Array, from = 0): number {
    let token = this.#buckets[bucketOf(words, from)]!
    while (token !== 0 && !this.#hasMint(token, words, from)) token = this.#next.get(token)
    return token
  }

  /** Counts a holder of a mint, and returns its token. */
  addHolder(words: Uint32Array, from: number, held: bigint, lamports: bigint): number {
    const token = this.find(words, from) || this.#add(words, from)
    this.#count(token, 1, held, lamports)
    return token
  }

  /** Takes back a holder. */
  removeHolder(token: number, held: bigint, lamports: bigint): void {
    this.#count(token, -1, -held, -lamports)
    if (this.holders(token) === 0) this.#remove(token)
  }

  /** Number of holders. */
  holders(token: number): number {
    return this.#holders.get(token)
  }

  /** Amount that all holders have bought less the amount they have sold. */
  held(token: number): bigint {
    return this.#sums.get(2 * token)
  }

  boughtLamports(token: number): bigint {
    return this.#sums.get(2 * token + 1)
  }

  mint(token: number): string {
    const words = new Uint32Array(MINT_WORDS)
    for (let at = 0; at < MINT_WORDS; at++) words[at] = this.#mints.get(token * MINT_WORDS + at)
    const text = Buffer.from(words.buffer).toString('latin1')
    return text.slice(0, text.indexOf('\0'))
  }

  /** Most holders first, then most SOL spent, then mint (rule C17). */
  compare(a: number, b: number): number {
    const more = this.holders(b) - this.holders(a)
    if (more !== 0) return more
    const [spent, other] = [this.boughtLamports(a), this.boughtLamports(b)]
    return spent === other ? this.compareMints(a, b) : spent > other ? -1 : 1
  }

  /**
   * Keys by which `sortByKeys` sorts as `compare` does, down to sums that are the same double and
   * mints that begin with the same four characters.
   */
  keys(): RowKey[] {
    const spent = (token: number) =>
      Math.min(MOST_LAMPORTS, Math.max(0, Number(this.boughtLamports(token))))
    return [
      (token) => bigEndian(this.#mints.get(token * MINT_WORDS)),
      (token) => ~(spent(token) % 2 ** 32),
      (token) => ~Math.floor(spent(token) / 2 ** 32),
      (token) => ~this.holders(token),
    ]
  }

  /** Compares the texts of the mints. */
  compareMints(a: number, b: number): number {
    if (a === b) return 0
    for (let at = 0; at < MINT_WORDS; at++) {
      const word = this.#mints.get(a * MINT_WORDS + at)
      const other = this.#mints.get(b * MINT_WORDS + at)
      if (word !== other) return bigEndian(word) - bigEndian(other)
    }
    return 0
  }

  #add(words: Uint32Array, from: number): number {
    const token = this.#free.pop() ?? this.#end++
    for (let at = 0; at < MINT_WORDS; at++)
      this.#mints.set(token * MINT_WORDS + at, words[from + at]!)
    this.#holders.set(token, 0)
    this.#sums.set(2 * token, 0n)
    this.#sums.set(2 * token + 1, 0n)
    const bucket = bucketOf(words, from)
    this.#next.set(token, this.#buckets[bucket]!)
    this.#buckets[bucket] = token
    return token
  }

  #remove(token: number): void {
    const bucket = bucketOf(wordsOf(this.mint(token)), 0)
    const next = this.#next.get(token)
    let before = this.#buckets[bucket]!
    if (before === token) this.#buckets[bucket] = next
    else {
      while (this.#next.get(before) !== token) before = this.#next.get(before)
      this.#next.set(before, next)
    }
    this.#free.push(token)
  }

  #count(token: number, holders: 1 | -1, held: bigint, lamports: bigint): void {
    this.#holders.set(token, this.holders(token) + holders)
    this.#sums.set(2 * token, this.held(token) + held)
    this.#sums.set(2 * token + 1, this.boughtLamports(token) + lamports)
  }

  #hasMint(token: number, words: Uint32Array, from: number): boolean {
    for (let at = 0; at < MINT_WORDS; at++)
      if (this.#mints.get(token * MINT_WORDS + at) !== words[from + at]) return false
    return true
  }
}

/** Returns the words of a mint. */
export function wordsOf(mint: string): Uint32Array {
  const words = new Uint32Array(MINT_WORDS)
  assert(mint.length < words.byteLength, 'a mint has at most 44 characters')
  Buffer.from(words.buffer).write(mint, 'latin1')
  return words
}

function bucketOf(words: Uint32Array, from: number): number {
  let hash = 0
  for (let at = 0; at < MINT_WORDS; at++) {
    hash = Math.imul(hash ^ words[from + at]!, 0x9e3779b1)
    hash ^= hash >>> 15
  }
  return (hash >>> 0) % BUCKETS
}

/** The first byte of a word in memory, which is its lowest one, becomes the highest one. */
function bigEndian(word: number): number {
  return ((word << 24) | ((word << 8) & 0xff0000) | ((word >>> 8) & 0xff00) | (word >>> 24)) >>> 0
}

/** More than there are. Sums beyond it are sorted as ties. */
const MOST_LAMPORTS = 2 ** 63
/** 4 MiB. Some tokens share a bucket when there are millions. */
const BUCKETS = 2 ** 20
