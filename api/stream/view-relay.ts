import { setImmediate as turn } from 'node:timers/promises'
import { ServiceError } from '../../pipeline/domain/service-error.ts'
import type { Logger } from '../../pipeline/runtime/logger.ts'
import type { CursorCodec } from '../cursor.ts'
import { frameText } from './frame.ts'
import { createGate } from './gate.ts'
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
  readonly #kept = new Map<string, Promise<readonly ViewEntry[]>>()
  readonly #inTurn = createGate(READS_AT_ONCE)
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
      const entries = isNear ? await this.#changes(last, tick) : null
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

  /** What follows a position that is not ahead, at most of `seconds` of ticks. Rejects when the store does not answer. */
  async page(position: ViewPosition, seconds: number): Promise<ViewPage> {
    const newest = this.#newest ?? 0
    const { at, part, index } = position
    if (at < newest - this.#deps.retentionHours * 3600) {
      const end = startOfSnapshot(newest)
      const gap = frameText(gapText(this.encode(end)))
      return { entries: [], end, gap, isSnapshot: false }
    }
    if (part === 'snapshot') {
      const entries = (await this.#snapshot(at)).slice(index)
      return { entries, end: endOfTick(at), gap: null, isSnapshot: true }
    }
    const to = Math.min(newest, at + seconds)
    // Ticks are whole seconds: what is left of this one begins after the second before it.
    const entries = await this.#changes(part === 'end' ? at : at - 1, to)
    const rest = part === 'end' ? entries : entries.slice(index)
    return { entries: rest, end: endOfTick(to), gap: null, isSnapshot: false }
  }

  #snapshot(at: number): Promise<readonly ViewEntry[]> {
    return this.#once(`as of ${at}`, async () =>
      this.#render(await this.#deps.source.snapshot(at), 'snapshot'),
    )
  }

  #changes(from: number, to: number): Promise<readonly ViewEntry[]> {
    return this.#once(`${from} to ${to}`, async () =>
      this.#render(await this.#deps.source.changes(from, to), 'changes'),
    )
  }

  #once(what: string, read: () => Promise<readonly ViewEntry[]>): Promise<readonly ViewEntry[]> {
    const kept = this.#kept.get(what)
    if (kept !== undefined) return kept
    const [oldest] = this.#kept.size >= MOST_KEPT ? this.#kept.keys() : []
    if (oldest !== undefined) this.#kept.delete(oldest)
    const reading = this.#inTurn(read)
    this.#kept.set(what, reading)
    reading.catch(() => this.#kept.delete(what))
    return reading
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

export type ViewListener = (batch: ViewBatch | null) => void

/** What of a jump is told at once; over a longer one each client is sent pages as fast as it takes them. */
const LIVE_SECONDS = 60
const READS_AT_ONCE = 2
const MOST_KEPT = 6
const RENDERED_AT_ONCE = 64
