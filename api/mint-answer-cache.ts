import type { StateChange } from '../pipeline/log/state-log.ts'
import type { RenderedAnswer } from './rendered-answer.ts'
import type { StateModel } from './state-reader.ts'

/**
 * A cache of responses about one mint. A response is evicted when something of its mint changes, or
 * as the least recently used one when all answers and entries exceed `maxBytes` (before
 * compression). Concurrent requests for one key share one read. Failed reads are not cached.
 */
export class MintAnswerCache implements StateModel {
  readonly #maxBytes: number
  /** Cached responses by key, the least recently used first. */
  readonly #entries = new Map<string, Entry>()
  readonly #keysOf = new Map<string, Set<string>>()
  #bytes = 0

  constructor(maxBytes: number) {
    this.#maxBytes = maxBytes
  }

  async load(): Promise<void> {}

  /** A swap changes the position of its wallet and mint before a marker passes it. */
  apply(changes: readonly StateChange[]): void {
    for (const { table, row } of changes) {
      if (table !== 'positions' && table !== 'swaps' && table !== 'mints') continue
      const mint = String(table === 'swaps' ? row.base_mint : row.mint)
      for (const key of this.#keysOf.get(mint) ?? []) this.#forget(key, this.#entries.get(key))
    }
  }

  /** Returns the response of a key about a mint, as of the newest marker. */
  async get(
    mint: string,
    key: string,
    make: () => Promise<RenderedAnswer>,
  ): Promise<RenderedAnswer> {
    const known = this.#entries.get(key)
    if (known !== undefined) {
      this.#entries.delete(key)
      this.#entries.set(key, known)
      return known.answer
    }
    const entry: Entry = { mint, answer: make(), bytes: 0 }
    this.#entries.set(key, entry)
    const keys = this.#keysOf.get(mint)
    if (keys === undefined) this.#keysOf.set(mint, new Set([key]))
    else keys.add(key)
    entry.answer.then(
      ({ bytes }) => this.#weigh(key, entry, bytes.length + ENTRY_BYTES),
      () => this.#forget(key, entry),
    )
    return entry.answer
  }

  #weigh(key: string, entry: Entry, bytes: number): void {
    if (this.#entries.get(key) !== entry) return
    entry.bytes = bytes
    this.#bytes += bytes
    for (const [oldest, other] of this.#entries) {
      if (this.#bytes <= this.#maxBytes) break
      this.#forget(oldest, other)
    }
  }

  #forget(key: string, entry: Entry | undefined): void {
    if (entry === undefined || this.#entries.get(key) !== entry) return
    this.#entries.delete(key)
    this.#bytes -= entry.bytes
    const keys = this.#keysOf.get(entry.mint)
    keys?.delete(key)
    if (keys?.size === 0) this.#keysOf.delete(entry.mint)
  }
}

/** About what an entry takes beside the bytes of its answer, which may be few. */
export const ENTRY_BYTES = 1000

interface Entry {
  readonly mint: string
  readonly answer: Promise<RenderedAnswer>
  /** 0 until the response is rendered. */
  bytes: number
}
