import assert from 'node:assert'
import { firstWhere } from './first-where.ts'

/**
 * Numbers of rows of a table, sorted, some 6 bytes each. They are in chunks, so that a change moves
 * few of them. A row must be removed before a value changes that it is compared by.
 */
export class RowOrder {
  readonly #compare: (a: number, b: number) => number
  /** None is empty. */
  #chunks: Chunk[] = []
  #size = 0

  /** `compare` is 0 only for the same row. */
  constructor(compare: (a: number, b: number) => number) {
    this.#compare = compare
  }

  get size(): number {
    return this.#size
  }

  /** Replaces the rows with sorted ones. */
  fill(sorted: Uint32Array): void {
    this.#chunks = []
    for (let at = 0; at < sorted.length; at += FILLED_ROWS)
      this.#chunks.push(chunkOf(sorted.subarray(at, at + FILLED_ROWS)))
    this.#size = sorted.length
  }

  /** Adds a row that is not among them. */
  add(row: number): void {
    const at = Math.max(0, Math.min(this.#chunkIndex(row), this.#chunks.length - 1))
    this.#chunks[at] ??= chunkOf([])
    const chunk = this.#chunks[at]!
    const index = this.#indexIn(chunk, row)
    chunk.rows.copyWithin(index + 1, index, chunk.size)
    chunk.rows[index] = row
    chunk.size += 1
    this.#size += 1
    if (chunk.size < CHUNK_ROWS) return
    this.#chunks.splice(at + 1, 0, chunkOf(chunk.rows.subarray(CHUNK_ROWS / 2)))
    chunk.size = CHUNK_ROWS / 2
  }

  /** Removes a row that is among them. */
  remove(row: number): void {
    const at = this.#chunkIndex(row)
    const chunk = this.#chunks[at]!
    const index = this.#indexIn(chunk, row)
    assert(chunk.rows[index] === row, 'a removed row is in the order')
    chunk.rows.copyWithin(index, index + 1, chunk.size)
    chunk.size -= 1
    this.#size -= 1
    const next = this.#chunks[at + 1]
    if (next !== undefined && chunk.size + next.size <= CHUNK_ROWS / 2) {
      chunk.rows.set(rowsOf(next), chunk.size)
      chunk.size += next.size
      this.#chunks.splice(at + 1, 1)
    } else if (chunk.size === 0) this.#chunks.splice(at, 1)
  }

  /** Of the rows for which `isWanted` is true, `limit` of them after the first `offset`. */
  filter(isWanted: (row: number) => boolean, offset: number, limit: number): readonly number[] {
    const found: number[] = []
    let skip = offset
    // An iterator would take five times the CPU, and a late page passes millions of rows.
    for (const { rows, size } of this.#chunks)
      for (let at = 0; at < size && found.length < limit; at++) {
        const row = rows[at]!
        if (isWanted(row) && skip-- <= 0) found.push(row)
      }
    return found
  }

  slice(from: number, to: number): Uint32Array {
    const rows = new Uint32Array(Math.max(0, Math.min(to, this.#size) - from))
    let start = 0
    for (const chunk of this.#chunks) {
      if (start >= to) break
      if (start + chunk.size > from)
        rows.set(
          chunk.rows.subarray(Math.max(0, from - start), Math.min(chunk.size, to - start)),
          Math.max(0, start - from),
        )
      start += chunk.size
    }
    return rows
  }

  /**
   * Number of rows before the first for which `isBehind` is true; it must be true for all later
   * ones too.
   */
  countBefore(isBehind: (row: number) => boolean): number {
    const chunks = this.#chunks
    const at = firstWhere(chunks.length, (chunk) => isBehind(lastOf(chunks[chunk]!)))
    let count = 0
    for (let before = 0; before < at; before++) count += chunks[before]!.size
    const chunk = chunks[at]
    if (chunk === undefined) return count
    return count + firstWhere(chunk.size, (index) => isBehind(chunk.rows[index]!))
  }

  /** The rows whose `place` is 0; it is negative for earlier and positive for later ones. */
  range(place: (row: number) => number): Uint32Array {
    return this.slice(
      this.countBefore((row) => place(row) >= 0),
      this.countBefore((row) => place(row) > 0),
    )
  }

  /** Index of the chunk that has the row, or would have it; beyond the last, their number. */
  #chunkIndex(row: number): number {
    const chunks = this.#chunks
    return firstWhere(chunks.length, (at) => this.#compare(lastOf(chunks[at]!), row) >= 0)
  }

  #indexIn({ rows, size }: Chunk, row: number): number {
    return firstWhere(size, (index) => this.#compare(rows[index]!, row) >= 0)
  }
}

interface Chunk {
  readonly rows: Uint32Array
  size: number
}

/** A chunk has fewer rows than this. */
const CHUNK_ROWS = 4096
/** Rows that `fill` puts into a chunk, which leaves room for more. */
const FILLED_ROWS = 3072

function chunkOf(rows: ArrayLike<number>): Chunk {
  const chunk = { rows: new Uint32Array(CHUNK_ROWS), size: rows.length }
  chunk.rows.set(rows)
  return chunk
}

function rowsOf({ rows, size }: Chunk): Uint32Array {
  return rows.subarray(0, size)
}

/** The last row; a chunk in an order has one. */
function lastOf({ rows, size }: Chunk): number {
  return rows[size - 1]!
}
