import type { SubscribeRequest } from '@triton-one/yellowstone-grpc'
import type { Wallets } from '../../domain/wallets.ts'
import type { Logger } from '../../runtime/logger.ts'
import { createOutageLog, type OutageLog } from '../../runtime/outage-log.ts'
import { pause } from '../../runtime/pause.ts'
import type { UpdateEnvelope } from '../wire/update-envelope.ts'
import { type BackoffLimits, createBackoff } from './backoff.ts'
import { planReconnect, type StreamSettings } from './reconnect-policy.ts'
import { openSession, type SessionEnd, type SessionLimits } from './stream-session.ts'
import { hasConfirmedBlocks } from './subscribe-request.ts'
import { createWalletFilter } from './wallet-filter.ts'
import { type Selection, selectionFor } from './wallet-selection.ts'
import type { OpenUpdateStream, StreamEnd, UpdateStreamOptions } from './yellowstone.ts'

/** Options of a standby stream. */
export interface StandbyStreamOptions {
  readonly endpoint: string
  readonly xToken: string | null
  /** The request for a stream from a slot on (null: live), in the form that the server accepts. */
  readonly request: (
    fromSlot: number | null,
    settings: Pick<StreamSettings, 'addressesPerFilter' | 'selection'>,
  ) => SubscribeRequest
  /** The wallets tracked now. */
  readonly wallets: () => Wallets
  /** How their transactions are selected at first; null: by their number (rule K24). */
  readonly selection: Selection | null
  readonly open: OpenUpdateStream
  readonly limits: SessionLimits & BackoffLimits & { readonly maxPendingBytes: number }
  readonly logger: Logger
  /** Called when a slot has its block meta and its status `confirmed`. */
  readonly onReceived: (slot: number, parent: number) => void
}

/**
 * Keeps a stream open for a process that may have to lead, with the updates of the newest slots in
 * memory (rule K14). `handOver` gives both to a chain follower: it gets the kept updates as if the
 * server replayed them, then the live ones, and opens no connection for that.
 */
export class StandbyStream {
  readonly #options: StandbyStreamOptions
  readonly #closing = new AbortController()
  /** Kept updates by slot, in the order of their arrival. */
  readonly #kept = new Map<number, Uint8Array[]>()
  #keptBytes = 0
  /** By slot: what is known of it so far, until both have come. */
  readonly #halves = new Map<number, { parent?: number; confirmed?: true }>()
  /** All updates of later slots are kept, or will come; null if that is not so for any slot. */
  #completeAfter: number | null = null
  #settings: StreamSettings
  #session: { send(request: SubscribeRequest): void; end(reason: SessionEnd): void } | null = null
  /** The follower that has the stream now. */
  #follower: UpdateStreamOptions | null = null
  readonly #outage: OutageLog
  readonly #done: Promise<void>

  constructor(options: StandbyStreamOptions) {
    const { selection, logger } = options
    this.#options = options
    this.#outage = createOutageLog(logger, 'standby stream ended', 'standby stream goes on')
    this.#settings = { replays: true, addressesPerFilter: undefined, selection }
    this.#done = this.#run()
  }

  /** Drops the updates of slots up to `slot`. */
  trim(slot: number): void {
    if (this.#follower !== null) return
    for (const kept of this.#kept.keys()) if (kept <= slot) this.#drop(kept)
    for (const half of this.#halves.keys()) if (half <= slot) this.#halves.delete(half)
    if (this.#completeAfter !== null && slot > this.#completeAfter) this.#completeAfter = slot
  }

  /** Opens the stream anew, with what `request` returns now. Call it when the wallets changed. */
  reopen(): void {
    this.#session?.end({ kind: 'failed', message: 'the wallets changed' })
  }

  /**
   * Opens a stream for a follower: the standby stream, if it is open and has the requested slots,
   * at the first call for a stream of transactions. Otherwise opens another one.
   */
  readonly handOver: OpenUpdateStream = (options) => {
    const { request } = options
    if (!hasConfirmedBlocks(request) || this.#closing.signal.aborted)
      return this.#options.open(options)
    this.#closing.abort()
    const session = this.#session
    const after = this.#completeAfter
    const fromSlot = request.fromSlot === undefined ? null : Number(request.fromSlot)
    const hasAll = after !== null && (fromSlot === null || fromSlot > after)
    if (session === null || !hasAll) {
      session?.end({ kind: 'closed' })
      this.#clear()
      return this.#options.open(options)
    }
    const slots = [...this.#kept.keys()].filter((slot) => slot >= (fromSlot ?? 0))
    this.#options.logger.info({ slots: slots.length }, 'continues with the standby stream')
    for (const slot of slots.sort((a, b) => a - b))
      for (const bytes of this.#kept.get(slot) ?? []) options.onUpdate(bytes)
    this.#clear()
    this.#follower = options
    const { fromSlot: _, ...filters } = request
    session.send(filters)
    return Promise.resolve({
      send: (changed) => session.send(changed),
      close: () => {
        this.#follower = null
        session.end({ kind: 'closed' })
      },
    })
  }

  /** Closes the stream, unless a follower has it. */
  async close(): Promise<void> {
    this.#closing.abort()
    if (this.#follower === null) this.#session?.end({ kind: 'closed' })
    else return
    await this.#done
  }

  /** Opens one stream after another until `close` or the hand-over. */
  async #run(): Promise<void> {
    const { limits, wallets } = this.#options
    const { signal } = this.#closing
    const backoff = createBackoff(limits)
    while (!signal.aborted) {
      const end = await this.#stream()
      if (signal.aborted) return this.#endFollower(end)
      const plan = planReconnect(end, this.#settings, wallets().size)
      this.#settings = plan.settings
      if (plan.kind === 'catch_up' || end.kind === 'behind') this.#completeAfter = null
      else if (plan.kind === 'back_off') {
        this.#outage.failed({ end: end.kind })
        await pause(backoff.next(), signal)
      }
      if (this.#completeAfter !== null) backoff.reset()
    }
  }

  /** Opens a stream that has everything after `#completeAfter`. Returns how it ended. */
  async #stream(): Promise<SessionEnd> {
    const { request, limits, wallets } = this.#options
    if (!this.#settings.replays) this.#completeAfter = null
    const fromSlot = this.#completeAfter === null ? null : this.#completeAfter + 1
    this.#clear()
    const session = await openSession({
      ...this.#options,
      limits,
      request: request(fromSlot, this.#settings),
      filter: createWalletFilter(
        wallets,
        // A follower has a filter of its own, which knows wallets that join later.
        () =>
          this.#follower === null &&
          selectionFor(wallets().size, this.#settings.selection) !== 'list',
      ),
      onUpdate: (envelope, bytes) => this.#onUpdate(envelope, bytes),
    })
    if ('kind' in session) return session
    this.#session = session
    if (this.#closing.signal.aborted) session.end({ kind: 'closed' })
    const end = await session.ended
    this.#session = null
    return end
  }

  #onUpdate(envelope: UpdateEnvelope | null, bytes: Uint8Array): void {
    if (this.#follower !== null) {
      this.#follower.onUpdate(bytes)
      return
    }
    if (envelope === null || !('slot' in envelope)) return
    const { slot } = envelope
    if (envelope.kind === 'slot' && envelope.status === 'other') return
    const isEnded = envelope.kind === 'meta' || envelope.kind === 'slot'
    // As for a chain follower without a checkpoint: the first slot that ends may be incomplete.
    if (isEnded) this.#completeAfter ??= slot
    if (slot <= (this.#completeAfter ?? -1)) return
    const kept = this.#kept.get(slot)
    if (kept) kept.push(bytes)
    else this.#kept.set(slot, [bytes])
    this.#keptBytes += bytes.length
    if (isEnded) this.#onEnded(envelope)
    // Without a leader for long: the next one reads what is too much for memory from the server.
    if (this.#keptBytes > this.#options.limits.maxPendingBytes)
      this.#session?.end({ kind: 'behind' })
  }

  #onEnded(envelope: Extract<UpdateEnvelope, { kind: 'meta' | 'slot' }>): void {
    const { slot } = envelope
    if (envelope.kind === 'slot' && envelope.status === 'dead') return
    const half = this.#halves.get(slot) ?? {}
    this.#halves.set(slot, half)
    if (envelope.kind === 'meta') half.parent = envelope.parent
    else half.confirmed = true
    if (half.parent === undefined || half.confirmed === undefined) return
    this.#halves.delete(slot)
    this.#outage.worked()
    this.#options.onReceived(slot, half.parent)
  }

  /** Tells the follower that its stream ended, unless the follower closed it. */
  #endFollower(end: SessionEnd): void {
    this.#follower?.onEnd(streamEnd(end))
    this.#follower = null
  }

  #drop(slot: number): void {
    for (const bytes of this.#kept.get(slot) ?? []) this.#keptBytes -= bytes.length
    this.#kept.delete(slot)
  }

  #clear(): void {
    this.#kept.clear()
    this.#halves.clear()
    this.#keptBytes = 0
  }
}

function streamEnd(end: SessionEnd): StreamEnd {
  switch (end.kind) {
    case 'silent':
    case 'behind':
    case 'closed':
      return { kind: 'failed', message: end.kind }
    default:
      return end
  }
}
