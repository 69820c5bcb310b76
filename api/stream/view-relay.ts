import { setImmediate as nextTurn } from 'node:timers/promises'
import { LRUCache } from 'lru-cache'
import { ServiceError } from '../../pipeline/domain/service-error.ts'
import type { Logger } from '../../pipeline/runtime/logger.ts'
import { createOutageLog, type OutageLog } from '../../pipeline/runtime/outage-log.ts'
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

/** A rendered message of a view, and the client's position after it. */
export interface ViewEntry {
  readonly channel: ViewChannel
  readonly mint: string
  readonly after: ViewPosition
  readonly frame: Buffer
}

/** A page of messages for a client that catches up. */
export interface ViewPage {
  readonly entries: readonly ViewEntry[]
  /** The client's position after the page. */
  readonly end: ViewPosition
  /** Frame of the `gap` message to send before the entries; null for none. */
  readonly gap: Buffer | null
  readonly isSnapshot: boolean
}

/** The messages from the end of one tick to the end of another. */
export interface ViewBatch {
  readonly from: number
  readonly to: number
  readonly entries: readonly ViewEntry[]
}

/** Dependencies of a view relay. */
export interface ViewRelayDeps {
  readonly source: ViewSource
  readonly cursors: CursorCodec
  readonly retentionHours: number
  readonly logger: Logger
}

/**
 * Publishes the ticks of the trending engine to all dashboard connections of the process. A tick is
 * read from the store once, and each message is rendered once. Every process gives the same
 * messages with the same ids, since both depend only on what is stored. Without listeners only the
 * newest tick is read.
 */
export class ViewRelay {
  readonly #deps: ViewRelayDeps
  readonly #listeners = new Set<ViewListener>()
  /** The newest reads by key, so that clients that reconnect together share them. */
  readonly #cache = new LRUCache<string, CachedRead>({ max: MAX_CACHED })
  readonly #queue = new FairQueue({ atOnce: CONCURRENT_READS, perAccount: 1 })
  #newest: number | null = null
  #polling: Promise<void> | null = null
  readonly #outage: OutageLog

  constructor(deps: ViewRelayDeps) {
    this.#deps = deps
    this.#outage = createOutageLog(
      deps.logger,
      'views cannot be read, trying again',
      'views are read again',
    )
  }

  /** The newest tick; null before the first. */
  get newest(): number | null {
    return this.#newest
  }

  /** Whether nothing has happened after this position. */
  isReached({ at, part }: ViewPosition): boolean {
    return part === 'end' && at === this.#newest
  }

  /** Encodes a position as a cursor. */
  encode(position: ViewPosition): string {
    return encodeView(this.#deps.cursors, position)
  }

  /** Decodes a cursor; null for text that is none. */
  decode(cursor: string): ViewPosition | null {
    return decodeView(this.#deps.cursors, cursor)
  }

  /**
   * Calls the listener at each tick, once `newest` is that tick, with the changes since the tick
   * before. The batch is null when they are too many or unknown: read them by pages. Returns a
   * function that removes the listener.
   */
  listen(listener: ViewListener): () => void {
    this.#listeners.add(listener)
    return () => this.#listeners.delete(listener)
  }

  /** Looks for a newer tick. Resolves when listeners were called. Never rejects. */
  poll(): Promise<void> {
    this.#polling ??= this.#publishNewest().finally(() => {
      this.#polling = null
    })
    return this.#polling
  }

  async #publishNewest(): Promise<void> {
    const { source } = this.#deps
    try {
      const tick = await source.newestTick()
      const last = this.#newest
      if (tick === null || (last !== null && tick <= last)) return this.#outage.worked()
      const isNear = last !== null && tick - last <= LIVE_SECONDS && this.#listeners.size > 0
      const entries = isNear ? await this.#changes(last, tick, RELAY_READER) : null
      this.#newest = tick
      const batch = last === null || entries === null ? null : { from: last, to: tick, entries }
      for (const listener of this.#listeners) listener(batch)
      this.#outage.worked()
    } catch (error) {
      const reason = error instanceof ServiceError ? error.message : 'failed'
      this.#outage.failed({ reason })
    }
  }

  /**
   * Reads what follows a position, at most `seconds` of ticks. The position must not be after the
   * newest tick. A wallet reads one page at a time, and wallets take turns. If the reader is stale
   * when its turn comes, the page is null and no query runs. Rejects with `unavailable` when the
   * store does not answer.
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
    // Ticks are whole seconds: `at - 1` includes this tick, of which `index` messages are skipped.
    const entries = await this.#changes(part === 'end' ? at : at - 1, to, reader)
    if (entries === null) return null
    const rest = part === 'end' ? entries : entries.slice(index)
    return { entries: rest, end: endOfTick(to), gap: null, isSnapshot: false }
  }

  #snapshot(at: number, reader: ViewReader) {
    return this.#readOnce(`as of ${at}`, reader, async () =>
      this.#render(await this.#deps.source.snapshot(at), 'snapshot'),
    )
  }

  #changes(from: number, to: number, reader: ViewReader) {
    return this.#readOnce(`${from} to ${to}`, reader, async () =>
      this.#render(await this.#deps.source.changes(from, to), 'changes'),
    )
  }

  /** Reads under a key, or shares the read of another client that is cached or in flight. */
  #readOnce(
    key: string,
    reader: ViewReader,
    read: () => Promise<readonly ViewEntry[]>,
  ): Promise<readonly ViewEntry[] | null> {
    // `peek` keeps the order of insertion: the oldest read is evicted, however often it is shared.
    const shared = this.#cache.peek(key)
    if (shared !== undefined) {
      shared.readers?.push(reader)
      return shared.entries
    }
    const readers = [reader]
    const isStale = () => readers.every((one) => one.isStale())
    const cached: CachedRead = { entries: this.#queue.run(reader.wallet, read, isStale), readers }
    this.#cache.set(key, cached)
    const invalidate = () => {
      if (this.#cache.peek(key) === cached) this.#cache.delete(key)
    }
    cached.entries.then((entries) => {
      cached.readers = null
      if (entries === null) invalidate()
    }, invalidate)
    return cached.entries
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
      // Yields to the event loop so that trades can be sent meanwhile.
      if (entries.length % RENDER_BATCH === 0) await nextTurn()
    }
    return entries
  }
}

/** A client that waits for a page. It is stale once it has closed or wants another page. */
export interface ViewReader {
  readonly wallet: string
  isStale(): boolean
}

/** The relay itself as a reader, for all connections. */
const RELAY_READER: ViewReader = { wallet: '', isStale: () => false }

interface CachedRead {
  /** Null: every reader was stale when its turn came. */
  readonly entries: Promise<readonly ViewEntry[] | null>
  /** The clients that wait for the page; null once it is read. */
  readers: ViewReader[] | null
}

/** Receives the changes of a tick; null when they must be read by pages. */
export type ViewListener = (batch: ViewBatch | null) => void

/**
 * The longest jump, in seconds of ticks, that is published as one batch. For a longer one each
 * client reads pages at its own pace.
 */
const LIVE_SECONDS = 60
const CONCURRENT_READS = 2
/** Number of cached reads. */
const MAX_CACHED = 6
/** Messages rendered before other connections run. */
const RENDER_BATCH = 64
