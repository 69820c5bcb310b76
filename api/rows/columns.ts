/*
 * Columns of tables in memory. They grow by chunks, which copies nothing and leaves no large part
 * unused, and the garbage collector does not look into them.
 */

const CHUNK_BITS = 13
const CHUNK_ROWS = 1 << CHUNK_BITS

/** Integers from 0 to 2^32 - 1, by row. Rows are first written in ascending order. */
export class Uint32Column {
  readonly #chunks: Uint32Array[] = []

  get(row: number): number {
    return this.#chunks[row >>> CHUNK_BITS]![row % CHUNK_ROWS]!
  }

  set(row: number, value: number): void {
    this.#chunks[row >>> CHUNK_BITS] ??= new Uint32Array(CHUNK_ROWS)
    this.#chunks[row >>> CHUNK_BITS]![row % CHUNK_ROWS] = value
  }

  /** Number of the first `rows` rows that have a value from `least` to `most`. */
  count(rows: number, least: number, most: number): number {
    let count = 0
    for (const [at, chunk] of this.#chunks.entries()) {
      const end = Math.min(CHUNK_ROWS, rows - at * CHUNK_ROWS)
      for (let row = 0; row < end; row++) if (chunk[row]! >= least && chunk[row]! <= most) count++
    }
    return count
  }
}

/**
 * Integers of any size, by row: 8 bytes each, and much more for one that does not fit. Rows are
 * first written in ascending order.
 */
export class BigColumn {
  readonly #chunks: BigInt64Array[] = []
  readonly #large = new Map<number, bigint>()

  get(row: number): bigint {
    const large = this.#large.size > 0 ? this.#large.get(row) : undefined
    return large ?? this.#chunks[row >>> CHUNK_BITS]![row % CHUNK_ROWS]!
  }

  set(row: number, value: bigint): void {
    this.#chunks[row >>> CHUNK_BITS] ??= new BigInt64Array(CHUNK_ROWS)
    const chunk = this.#chunks[row >>> CHUNK_BITS]!
    chunk[row % CHUNK_ROWS] = value
    if (chunk[row % CHUNK_ROWS] !== value) this.#large.set(row, value)
    else if (this.#large.size > 0) this.#large.delete(row)
  }
}
