import { setImmediate as turn } from 'node:timers/promises'
import { ServiceError } from '../../pipeline/domain/service-error.ts'
import type { Logger } from '../../pipeline/runtime/logger.ts'
import type { CursorCodec } from '../cursor.ts'
import { FairQueue } from '../fair-queue.ts'
import { frameText } from './frame.ts'
import type { ViewChannel } from './messages.ts'
import { gapText, viewText } from './protocol.ts'
import {
  decodeView,
  encodeView,
  endOfTick,
  startOfSnapshot,
  type ViewPart,
  type ViewPosition,
} from './view-position.ts'
import type { ViewRow, ViewSource } from './view-rows.ts'

/** A message of a view, as it goes to everybody, and where a client is after it. */
export interface ViewEntry {
  readonly channel: ViewChannel
  readonly mint: string
  readonly after: ViewPosition
  readonly frame: Buffer
}

/** What comes next for a client that is behind. */
export interface ViewPage {
  readonly entries: readonly ViewEntry[]
  /** Where a client is after the page. */
  readonly end: ViewPosition
  /** It goes before the entries: what lay between is out of reach. */
  readonly gap: Buffer | null
  readonly isSnapshot: boolean
}

/** What changed from the end of one tick to the end of another. */
export interface ViewBatch {
  readonly from: number
  readonly to: number
  readonly entries: readonly ViewEntry[]
}

export interface ViewRelayDeps {
  readonly source: ViewSource
  readonly cursors: CursorCodec
  readonly retentionHours: number
  readonly logger: Logger
}

/**
 * Follows the ticks of the trending engine by the store, for all connections of the process: a tick is read once and each message rendered once. Several processes give the same
 * messages with the same ids, as these follow from what is stored.
 * While nobody listens nothing is read but how far the engine is.
 */
export class ViewRelay {
  readonly #deps: ViewRelayDeps
  readonly #listeners = new Set<ViewListener>()
  /** What was read last, by what was asked: clients that come back together share it. */
  readonly #kept = new Map<string, Kept>()
  readonly #queue = new FairQueue({ atOnce: READS_AT_ONCE, perAccount: 1 })
  #newest: number | null = null
  #polling: Promise<void> | null = null
  #isFailing = false

  constructor(deps: ViewRelayDeps) {
    this.#deps = deps
  }

  /** The newest tick; null before the first. */
  get newest(): number | null {
    return this.#newest
  }

  /** Whether nothing more has happened. */
  isReached({ at, part }: ViewPosition): boolean {
    return part === 'end' && at === this.#newest
  }

  encode(position: ViewPosition): string {
    return encodeView(this.#deps.cursors, position)
  }

  decode(cursor: string): ViewPosition | null {
    return decodeView(this.#deps.cursors, cursor)
  }

  /**
   * Calls the listener at each tick, when `newest` is it, with what changed since the one before; with null when that is too much, or not known, and has to be asked for by pages.
   * Gives what ends it.
   */
  listen(listener: ViewListener): () => void {
    this.#listeners.add(listener)
    return () => this.#listeners.delete(listener)
  }

  /** Looks for a newer tick; resolves when it was told. Never rejects. */
  poll(): Promise<void> {
    this.#polling ??= this.#look().finally(() => {
      this.#polling = null
    })
    return this.#polling
  }

  async #look(): Promise<void> {
    const { source, logger } = this.#deps
    try {
      const tick = await source.newestTick()
      const last = this.#newest
      if (tick === null || (last !== null && tick <= last)) return
      const isNear = last !== null && tick - last <= LIVE_SECONDS && this.#listeners.size > 0
      const entries = isNear ? await this.#changes(last, tick, THE_RELAY) : null
      this.#newest = tick
      const batch = last === null || entries === null ? null : { from: last, to: tick, entries }
      for (const listener of this.#listeners) listener(batch)
      this.#isFailing = false
    } catch (error) {
      const reason = error instanceof ServiceError ? error.message : 'failed'
      if (!this.#isFailing) logger.warn({ reason }, 'views cannot be read, trying again')
      this.#isFailing = true
    }
  }

  /**
   * What follows a position that is not ahead, at most of `seconds` of ticks. A wallet reads one
   * page at a time and wallets take turns; null, without a query, when the reader is stale by then.
   * Rejects when the store does not answer.
   */
  async page(
    position: ViewPosition,
    seconds: number,
    reader: ViewReader,
  ): Promise<ViewPage | null> {
    const newest = this.#newest ?? 0
    const { at, part, index } = position
    if (at < newest - this.#deps.retentionHours * 3600) {
      const end = startOfSnapshot(newest)
      const gap = frameText(gapText(this.encode(end)))
      return { entries: [], end, gap, isSnapshot: false }
    }
    if (part === 'snapshot') {
      const snapshot = await this.#snapshot(at, reader)
      if (snapshot === null) return null
      const entries = snapshot.slice(index)
      return { entries, end: endOfTick(at), gap: null, isSnapshot: true }
    }
    const to = Math.min(newest, at + seconds)
    // Ticks are whole seconds: what is left of this one begins after the second before it.
    const entries = await this.#changes(part === 'end' ? at : at - 1, to, reader)
    if (entries === null) return null
    const rest = part === 'end' ? entries : entries.slice(index)
    return { entries: rest, end: endOfTick(to), gap: null, isSnapshot: false }
  }

  #snapshot(at: number, reader: ViewReader) {
    return this.#once(`as of ${at}`, reader, async () =>
      this.#render(await this.#deps.source.snapshot(at), 'snapshot'),
    )
  }

  #changes(from: number, to: number, reader: ViewReader) {
    return this.#once(`${from} to ${to}`, reader, async () =>
      this.#render(await this.#deps.source.changes(from, to), 'changes'),
    )
  }

  #once(
    what: string,
    reader: ViewReader,
    read: () => Promise<readonly ViewEntry[]>,
  ): Promise<readonly ViewEntry[] | null> {
    const kept = this.#kept.get(what)
    if (kept !== undefined) {
      kept.readers?.push(reader)
      return kept.entries
    }
    const [oldest] = this.#kept.size >= MOST_KEPT ? this.#kept.keys() : []
    if (oldest !== undefined) this.#kept.delete(oldest)
    const readers = [reader]
    const isStale = () => readers.every((one) => one.isStale())
    const one: Kept = { entries: this.#queue.run(reader.wallet, read, isStale), readers }
    this.#kept.set(what, one)
    const forget = () => {
      if (this.#kept.get(what) === one) this.#kept.delete(what)
    }
    one.entries.then((found) => {
      one.readers = null
      if (found === null) forget()
    }, forget)
    return one.entries
  }

  async #render(rows: readonly ViewRow[], part: ViewPart): Promise<readonly ViewEntry[]> {
    const entries: ViewEntry[] = []
    let [at, index] = [0, 0]
    for (const row of rows) {
      index = row.at === at ? index + 1 : 1
      at = row.at
      const after = { at, part, index }
      const frame = frameText(viewText(row, this.encode(after)))
      entries.push({ channel: row.channel, mint: row.mint, after, frame })
      // Trades go on in between.
      if (entries.length % RENDERED_AT_ONCE === 0) await turn()
    }
    return entries
  }
}

/** Who waits for a page: a dashboard of a wallet, until it has closed or wants another page. */
export interface ViewReader {
  readonly wallet: string
  isStale(): boolean
}

/** What is read for all connections. */
const THE_RELAY: ViewReader = { wallet: '', isStale: () => false }

interface Kept {
  /** Null: every reader was stale when its turn came. */
  readonly entries: Promise<readonly ViewEntry[] | null>
  /** Who waits for it; null once it is read. */
  readers: ViewReader[] | null
}

export type ViewListener = (batch: ViewBatch | null) => void

/** What of a jump is told at once; over a longer one each client is sent pages as fast as it takes them. */
const LIVE_SECONDS = 60
const READS_AT_ONCE = 2
const MOST_KEPT = 6
const RENDERED_AT_ONCE = 64
