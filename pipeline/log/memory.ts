import type { BlockId } from '../domain/block-id.ts'
import { DECODER_VERSION as decoderVersion } from '../domain/decoder-version.ts'
import type { KeptTransaction } from '../domain/event.ts'
import { ServiceError } from '../domain/service-error.ts'
import {
  LIVE_START,
  type RefoldRequest,
  type ResumePoint,
  type SlotMarker,
  type SlotRecords,
  type WalletRecord,
  type Withdrawal,
} from '../domain/slot.ts'
import type { Logger } from '../runtime/logger.ts'
import type { Registry } from '../runtime/telemetry.ts'
import { handOut } from './hand-out.ts'
import type {
  BatchHandler,
  ConsumeOptions,
  EventLog,
  LogExtent,
  LogRecord,
  OffsetRange,
  PartitionLease,
  StartOffsets,
} from './log.ts'
import type { LateOrigin, LogMessage } from './log-message.ts'
import { createMemoryStateLog } from './memory-state-log.ts'
import type { StateLog } from './state-log.ts'
import { type AppendMetrics, createAppendMetrics, createLogMetrics } from './telemetry.ts'
import { MEMORY_PARTITIONS, partitionOf } from './topics.ts'

export interface MemoryLogOptions {
  readonly partitions?: number
  /** An append waits while a group has more records than this uncommitted in one partition. */
  readonly maxBacklog?: number
  /**
   * The same for bytes of kept transactions in one partition. Only groups receive these; they are
   * dropped when every group has committed them.
   */
  readonly maxBacklogBytes?: number
  /** Followers can go back this far, and at most `retainedRecords` a partition. */
  readonly retentionMs?: number
  readonly retainedRecords?: number
  readonly maxBatch?: number
  /** First pause before a failed batch is handed out again; it doubles to 50 times that. */
  readonly retryDelayMs?: number
  readonly now?: () => number
  /** Unix milliseconds by default. */
  readonly epoch?: number
}

/**
 * Returns a log in one process, with the partitions, order, offsets, groups and redelivery of
 * Kafka, bounded in memory. It starts empty and ends with the process. Uncommitted records are then
 * fetched from the source again (rule K3).
 */
export function createMemoryLog(
  deps: { readonly logger: Logger; readonly registry: Registry },
  options: MemoryLogOptions = {},
): EventLog {
  return new MemoryLog(deps, options)
}

class MemoryLog implements EventLog {
  readonly partitions: number
  readonly states: StateLog
  readonly epoch: number
  readonly #logger: Logger
  readonly #registry: Registry
  readonly #metrics
  #appendMetrics: AppendMetrics | undefined
  readonly #options: Required<MemoryLogOptions>
  readonly #parts: readonly Partition[]
  readonly #groups = new Map<string, Group>()
  readonly #followers = new Set<Group>()
  readonly #closed = new AbortController()
  #lastAppend: Promise<unknown> = Promise.resolve()
  #newest: SlotMarker | null = null

  constructor(deps: { logger: Logger; registry: Registry }, options: MemoryLogOptions) {
    this.#logger = deps.logger
    this.#registry = deps.registry
    this.#metrics = createLogMetrics(deps.registry)
    this.#options = {
      partitions: MEMORY_PARTITIONS,
      maxBacklog: 20_000,
      maxBacklogBytes: 16 * 1024 * 1024,
      retentionMs: 600_000,
      retainedRecords: 20_000,
      maxBatch: 1000,
      retryDelayMs: 100,
      now: Date.now,
      epoch: Date.now(),
      ...options,
    }
    this.partitions = this.#options.partitions
    this.states = createMemoryStateLog(this.partitions)
    this.epoch = this.#options.epoch
    this.#parts = Array.from({ length: this.partitions }, (_, index) => new Partition(index))
  }

  async lead(): Promise<void> {}

  appendSlot({ marker, records }: SlotRecords): Promise<void> {
    return this.#append(records.length, () => {
      for (const record of records)
        this.#push(record.wallet, { kind: 'record', record, late: null, decoderVersion })
      for (const part of this.#parts) part.push({ kind: 'marker', marker }, this.#options.now())
      this.#newest = marker
    })
  }

  appendLate(
    records: readonly WalletRecord[],
    late: LateOrigin,
    blockId: BlockId | null = null,
  ): Promise<void> {
    return this.#append(records.length, () => {
      for (const record of records)
        this.#push(record.wallet, { kind: 'record', record, late, blockId, decoderVersion })
    })
  }

  appendWithdrawal(withdrawal: Withdrawal): Promise<void> {
    return this.#append(0, () => {
      for (const part of this.#parts)
        part.push({ kind: 'withdrawal', withdrawal }, this.#options.now())
    })
  }

  appendRefolds(refolds: readonly RefoldRequest[]): Promise<void> {
    return this.#append(refolds.length, () => {
      for (const refold of refolds) this.#push(refold.wallet, { kind: 'refold', refold })
    })
  }

  async checkpoint(): Promise<SlotMarker | null> {
    return this.#newest
  }

  async extent(times: ReadonlyMap<number, number> = new Map()): Promise<LogExtent> {
    const partitions = new Map<number, OffsetRange>()
    for (const part of this.#parts) {
      const range = { low: BigInt(part.base), end: BigInt(part.end) }
      const time = times.get(part.index)
      const later = time !== undefined && { later: BigInt(part.offsetAt(time + 1)) }
      partitions.set(part.index, { ...range, ...later })
    }
    return { id: String(this.epoch), partitions }
  }

  async resumePoint(): Promise<ResumePoint> {
    return LIVE_START
  }

  async appendedBlocks(): Promise<readonly []> {
    return []
  }

  async settled(name: string, stop: AbortSignal): Promise<void> {
    const ends = this.#parts.map((part) => part.end)
    const wake = () => {
      for (const part of this.#parts) part.changed.notify()
    }
    stop.addEventListener('abort', wake)
    try {
      for (const part of this.#parts) {
        const end = ends[part.index] ?? 0
        while ((this.#groups.get(name)?.positions[part.index] ?? 0) < end) {
          this.#refuseWhenClosed()
          if (stop.aborted) throw new ServiceError('closed', 'stopped while waiting for a group')
          await part.changed.wait()
        }
      }
    } finally {
      stop.removeEventListener('abort', wake)
    }
  }

  async hasConsumer(group: string): Promise<boolean> {
    return (this.#groups.get(group)?.size ?? 0) > 0
  }

  async consume(options: ConsumeOptions, handler: BatchHandler) {
    this.#refuseWhenClosed()
    const group = this.#groupOf(options)
    const onAssigned = options.mode === 'shared' ? options.onAssigned : undefined
    const member: Member = { handler, onAssigned: onAssigned?.bind(options) }
    await group.rebalance((members) => members.add(member))
    return {
      close: async () => {
        await group.rebalance((members) => members.delete(member))
        this.#followers.delete(group)
      },
    }
  }

  async checkFormat(): Promise<void> {}

  async ping(): Promise<void> {
    this.#refuseWhenClosed()
  }

  async close(): Promise<void> {
    this.#closed.abort()
    await this.states.close()
    for (const part of this.#parts) part.changed.notify()
    const groups = [...this.#groups.values(), ...this.#followers]
    await Promise.all(groups.map((group) => group.rebalance((members) => members.clear())))
  }

  /** Appends run one after another, each when every group is close enough to the end. */
  #append(count: number, write: () => void): Promise<void> {
    this.#appendMetrics ??= createAppendMetrics(this.#registry)
    const { appendSeconds, appendedRecords } = this.#appendMetrics
    const started = performance.now()
    const done = this.#lastAppend.then(async () => {
      for (const part of this.#parts) {
        while (!this.#closed.signal.aborted && this.#isBehind(part)) await part.changed.wait()
      }
      this.#refuseWhenClosed()
      write()
      for (const part of this.#parts) {
        this.#trim(part)
        part.changed.notify()
      }
      appendedRecords.inc(count)
      appendSeconds.observe((performance.now() - started) / 1000)
    })
    this.#lastAppend = done.catch(() => {})
    return done
  }

  #push(wallet: number, message: LogMessage): void {
    const part = this.#parts[partitionOf(wallet, this.partitions)]
    part?.push(message, this.#options.now())
  }

  /** Whether a group has too much of the partition uncommitted. */
  #isBehind(part: Partition): boolean {
    const { maxBacklog, maxBacklogBytes } = this.#options
    const backlog = this.#backlog(part)
    part.forgetKept(part.end - backlog)
    return backlog > maxBacklog || part.keptBytes > maxBacklogBytes
  }

  /** Records of the partition that the slowest group has not committed. */
  #backlog(part: Partition): number {
    let slowest = part.end
    for (const group of this.#groups.values())
      slowest = Math.min(slowest, group.positions[part.index] ?? 0)
    return part.end - slowest
  }

  /** Drops entries that every group has committed and no follower may request. */
  #trim(part: Partition): void {
    const { now, retentionMs, retainedRecords } = this.#options
    const committed = part.end - this.#backlog(part)
    part.forgetKept(committed)
    const old = Math.max(part.offsetAt(now() - retentionMs), part.end - retainedRecords)
    part.trim(Math.min(committed, old))
  }

  #groupOf(options: ConsumeOptions): Group {
    const start = (positions: readonly number[]) =>
      new Group({
        parts: this.#parts,
        positions: [...positions],
        isFollower: options.mode === 'follow',
        maxBatch: this.#options.maxBatch,
        retryDelayMs: this.#options.retryDelayMs,
        logger: this.#logger,
        onRedelivery: () => this.#metrics.redeliveries.inc(),
      })
    if (options.mode === 'follow') {
      const { sinceMs } = options
      const since = sinceMs === null ? null : this.#options.now() - sinceMs
      const follower = start(
        this.#parts.map((part) => (since === null ? part.end : part.offsetAt(since))),
      )
      this.#followers.add(follower)
      return follower
    }
    const group = this.#groups.get(options.group) ?? start(this.#parts.map((part) => part.base))
    this.#groups.set(options.group, group)
    return group
  }

  #refuseWhenClosed(): void {
    if (this.#closed.signal.aborted) throw new ServiceError('closed', 'the log is closed')
  }
}

/** Entries `base` to `end` (exclusive) of one partition, with the time they came. */
class Partition {
  readonly index: number
  /** Notified of every append and every commit. */
  readonly changed = new Changed()
  base = 0
  /** Bytes of kept transactions that are not dropped yet. */
  keptBytes = 0
  /** Kept transactions below this offset are dropped; their offsets stay. */
  #forgotten = 0
  #entries: { readonly at: number; record: LogRecord | null }[] = []

  constructor(index: number) {
    this.index = index
  }

  get end(): number {
    return this.base + this.#entries.length
  }

  push(entry: LogMessage, at: number): void {
    if (entry.kind === 'record' && entry.record.kind === 'kept')
      this.keptBytes += entry.record.bytes.length
    this.#entries.push({ at, record: { offset: BigInt(this.end), ...entry } })
  }

  /** Drops kept transactions below `offset`. */
  forgetKept(offset: number): void {
    const first = Math.max(this.#forgotten, this.base)
    for (let at = first; at < offset; at++) {
      const entry = this.#entries[at - this.base]
      if (entry === undefined || !isKept(entry.record)) continue
      this.keptBytes -= entry.record.record.bytes.length
      entry.record = null
    }
    this.#forgotten = Math.max(this.#forgotten, offset)
  }

  /**
   * Returns records from an offset on, without dropped ones, the newest time of the entries, and
   * the offset after them.
   */
  read(from: number, limit: number): { records: LogRecord[]; time: number; next: number } {
    const start = from - this.base
    const entries = this.#entries.slice(start, start + limit)
    const records = entries.flatMap(({ record }) => record ?? [])
    const time = entries.reduce((newest, { at }) => Math.max(newest, at), 0)
    return { records, time, next: from + entries.length }
  }

  /** Returns the first offset whose entry was appended at `at` or later. */
  offsetAt(at: number): number {
    const found = this.#entries.findIndex((entry) => entry.at >= at)
    return found < 0 ? this.end : this.base + found
  }

  trim(offset: number): void {
    // A cut copies what remains, so it is rare.
    if (offset - this.base < 1 + this.#entries.length / 8) return
    this.#entries = this.#entries.slice(offset - this.base)
    this.base = offset
  }
}

function isKept(
  record: LogRecord | null,
): record is LogRecord & { readonly kind: 'record'; readonly record: KeptTransaction } {
  return record?.kind === 'record' && record.record.kind === 'kept'
}

interface Member {
  readonly handler: BatchHandler
  readonly onAssigned: ((assignment: PartitionLease) => Promise<StartOffsets>) | undefined
}

interface GroupDeps {
  readonly parts: readonly Partition[]
  /** Next offset of each partition: what is below is committed. */
  readonly positions: number[]
  readonly isFollower: boolean
  readonly maxBatch: number
  readonly retryDelayMs: number
  readonly logger: Logger
  onRedelivery(): void
}

/** Consumers that share the partitions: partition `p` belongs to member `p mod members`. */
class Group {
  readonly positions: number[]
  readonly #deps: GroupDeps
  readonly #members = new Set<Member>()
  #generation = new AbortController()
  #running: Promise<unknown> = Promise.resolve()
  #rebalancing: Promise<unknown> = Promise.resolve()

  constructor(deps: GroupDeps) {
    this.#deps = deps
    this.positions = deps.positions
  }

  /** Number of members. */
  get size(): number {
    return this.#members.size
  }

  /**
   * Changes the members. Batches in progress are finished first; then all partitions are assigned
   * again.
   */
  rebalance(change: (members: Set<Member>) => unknown): Promise<void> {
    const done = this.#rebalancing.then(async () => {
      this.#generation.abort()
      for (const part of this.#deps.parts) part.changed.notify()
      await this.#running
      change(this.#members)
      this.#generation = new AbortController()
      await this.#start([...this.#members], this.#generation.signal)
    })
    this.#rebalancing = done.catch(() => {})
    return done
  }

  async #start(members: readonly Member[], signal: AbortSignal): Promise<void> {
    const shares = members.map((member, index) => ({
      member,
      parts: this.#deps.parts.filter((part) => part.index % members.length === index),
    }))
    await Promise.all(
      shares.map(async ({ member, parts }) => {
        const starts = await member.onAssigned?.({
          partitions: parts.map((part) => part.index),
          generation: async () => 0,
          confirm: async () => {},
        })
        for (const [partition, offset] of starts ?? []) this.positions[partition] = Number(offset)
      }),
    )
    this.#running = Promise.all(
      shares.flatMap(({ member, parts }) =>
        parts.map((part) => this.#run(part, member.handler, signal)),
      ),
    )
  }

  async #run(part: Partition, handler: BatchHandler, signal: AbortSignal): Promise<void> {
    const { maxBatch, retryDelayMs, logger, onRedelivery, isFollower } = this.#deps
    while (!signal.aborted) {
      const position = Math.max(this.positions[part.index] ?? 0, part.base)
      const { records: all, time, next } = part.read(position, maxBatch)
      if (next === position) {
        await part.changed.wait()
        continue
      }
      const records = isFollower ? all.filter((record) => !isKept(record)) : all
      const batch = { partition: part.index, time, records }
      const done =
        records.length === 0 ||
        (await handOut(batch, handler, { signal, retryDelayMs, logger, onRedelivery }))
      if (!done) return
      this.positions[part.index] = next
      part.changed.notify()
    }
  }
}

/** Wakes all waiting callers. */
class Changed {
  #waiting: (() => void)[] = []

  wait(): Promise<void> {
    return new Promise((resolve) => this.#waiting.push(resolve))
  }

  notify(): void {
    const waiting = this.#waiting
    this.#waiting = []
    for (const resolve of waiting) resolve()
  }
}
