import { randomUUID } from 'node:crypto'
import { DECODER_VERSION } from '../domain/decoder-version.ts'
import { EventLoopYield } from '../runtime/event-loop-yield.ts'
import type { Logger } from '../runtime/logger.ts'
import { createOutageLog, type OutageLog } from '../runtime/outage-log.ts'
import { pause } from '../runtime/pause.ts'
import { handOut } from './hand-out.ts'
import { stickyAssigner } from './kafka-assigner.ts'
import {
  deleteGroup,
  type EachBatchPayload,
  type KafkaClient,
  type KafkaConsumer,
  type KafkaMessage,
  PartitionAssigners,
  withAdmin,
} from './kafka-client.ts'
import { GroupLease, type GroupTimes } from './kafka-lease.ts'
import { groupIdOf } from './kafka-offsets.ts'
import { createConsumer } from './kafka-stop.ts'
import type { BatchHandler, ConsumeOptions, Consumer, LogRecord } from './log.ts'
import type { LogMessage } from './log-message.ts'
import { type Decoded, decodeMessage } from './record.ts'
import { NO_CLAIM } from './sticky-assignment.ts'
import type { FormatStop, StoppedPartitions } from './stopped-partitions.ts'
import type { LogMetrics } from './telemetry.ts'

/** Dependencies of a consumer. */
export interface ConsumerDeps<R> {
  readonly kafka: KafkaClient
  readonly topic: string
  readonly partitions: number
  /** How long the group waits for a member that died, in milliseconds. */
  readonly sessionTimeoutMs: number
  readonly logger: Logger
  readonly metrics: LogMetrics
  readonly stopped: StoppedPartitions
  /** Reads the value of an entry. */
  read(value: Uint8Array | null, offset: bigint): EntryRead<R>
}

/** An entry as read; see `Decoded`. */
export type EntryRead<R> =
  | { readonly kind: 'ok'; readonly record: R }
  | Exclude<Decoded, { readonly kind: 'ok' }>

/** Ticks of `TICK_MS` between two heartbeats of a busy consumer. */
const HEARTBEAT_TICKS = 5
const TICK_MS = 100
/** The client sends no heartbeat sooner after another. */
const HEARTBEAT_MS = 50
/** How long a follower's handler keeps the client from fetching. */
const PATIENCE_MS = 100
const KIB = 1024

/** Headers of a kept transaction. Followers skip it without reading its value. */
export const KEPT_HEADERS = { kind: 'kept' } as const
/** Headers of the empty entry with which a process begins to write (rule K14). All skip it. */
export const FENCE_HEADERS = { kind: 'fence' } as const

/**
 * A consumer that restarts: a client that crashed is replaced by a new one, which resumes at the
 * committed offsets, or a follower at its own position. `started` resolves when the first client
 * has its partitions, or when the consumer is closed before.
 */
export class SupervisedConsumer<R = LogRecord> implements Consumer {
  readonly started: Promise<void>
  readonly #deps: ConsumerDeps<R>
  readonly #options: ConsumeOptions
  readonly #handler: BatchHandler<R>
  readonly #closing = new AbortController()
  readonly #closed: Promise<null>
  readonly #done: Promise<void>
  /**
   * Next offset by partition: of a follower since its start, because it commits nothing; of a group
   * since the last assignment.
   */
  readonly #positions = new Map<number, bigint>()
  /** By partition of a follower: the batch that its handler has. */
  readonly #busy = new Map<number, Promise<unknown>>()
  /** Offsets at which the reader wants to start, until the first batch from there has come. */
  readonly #starts = new Map<number, bigint>()
  /** The partitions of the group that this consumer has; null before the first assignment. */
  #lease: GroupLease | null = null
  #hasStarted: () => void = () => {}
  readonly #outage: OutageLog
  #onHeartbeatError: (error: unknown) => void = () => {}
  /** Replaces the client, and so assigns the partitions again. */
  #refuse: (reason: Error) => void = () => {}

  constructor(deps: ConsumerDeps<R>, options: ConsumeOptions, handler: BatchHandler<R>) {
    this.#deps = deps
    this.#options = options
    this.#handler = handler
    this.#outage = createOutageLog(
      deps.logger,
      'consumer lost Kafka, restarts',
      'consumer reads from Kafka again',
    )
    this.started = new Promise((resolve) => {
      this.#hasStarted = resolve
    })
    this.#closed = new Promise((resolve) => {
      this.#closing.signal.addEventListener('abort', () => resolve(null), { once: true })
    })
    this.#done = this.#supervise()
  }

  close(): Promise<void> {
    this.#closing.abort()
    return this.#done
  }

  async #supervise(): Promise<void> {
    const { metrics } = this.#deps
    const { signal } = this.#closing
    const since = Date.now()
    for (let pauseMs = 100; !signal.aborted; pauseMs = Math.min(2 * pauseMs, 2000)) {
      const started = performance.now()
      try {
        if (this.#options.mode === 'follow' && this.#positions.size === 0) {
          const { sinceMs } = this.#options
          await this.#findStart(sinceMs === null ? null : since - sinceMs)
        }
        await this.#runClient()
        if (signal.aborted) break
      } catch (error) {
        this.#outage.failed({ reason: (error as Error).message })
      }
      metrics.consumerRestarts.inc()
      if (performance.now() - started > 30_000) pauseMs = 100
      await pause(pauseMs, signal)
    }
    await Promise.allSettled(this.#busy.values())
    this.#deps.stopped.release(this)
    this.#hasStarted()
  }

  /** Runs one client. Resolves when the consumer is closed, rejects when the client crashes. */
  async #runClient(): Promise<void> {
    const { kafka, topic, sessionTimeoutMs, partitions } = this.#deps
    const isFollower = this.#options.mode === 'follow'
    // Each client of a follower has a new group, so it does not wait for the session of a crashed
    // member. Without commits no group remains.
    const group = this.#options.mode === 'follow' ? `follow-${randomUUID()}` : this.#options.group
    const groupId = groupIdOf(topic, group)
    const rebalanceMs = Math.max(10_000, sessionTimeoutMs)
    const consumer = createConsumer(kafka, {
      groupId,
      sessionTimeout: sessionTimeoutMs,
      rebalanceTimeout: rebalanceMs,
      heartbeatInterval: HEARTBEAT_MS,
      minBytes: 1,
      // A worker that is behind stores one response with one insert per table. Each insert has a
      // fixed cost, so responses are large: five times this, once they are decompressed.
      maxBytes: (isFollower ? 1024 : Math.min(4608, 768 * partitions)) * KIB,
      maxBytesPerPartition: (isFollower ? 256 : 768) * KIB,
      maxWaitTimeInMs: 500, // also how long closing waits for an idle fetch
      allowAutoTopicCreation: false,
      // Kafka takes the first that every member knows: an earlier version knows the second only.
      partitionAssigners: [
        stickyAssigner(partitions, () => this.#lease?.claim ?? NO_CLAIM),
        PartitionAssigners.roundRobin,
      ],
      retry: { retries: 5, initialRetryTime: 50, maxRetryTime: 1000, restartOnFailure: never },
    })
    const crashed = new Promise<Error>((resolve) => {
      consumer.on(consumer.events.CRASH, ({ payload }) => resolve(payload.error))
    })
    let assigned = Promise.resolve()
    const refused = new Promise<Error>((resolve) => {
      this.#refuse = resolve
    })
    const renew = this.#keepLease(consumer, { sessionMs: sessionTimeoutMs, rebalanceMs })
    consumer.on(consumer.events.GROUP_JOIN, ({ payload }) => {
      // Before the first fetch: the client calls listeners synchronously.
      const own = payload.memberAssignment[topic] ?? []
      const lease = renew(own)
      // The client keeps partitions paused that another reader may have meanwhile read on.
      this.#deps.stopped.release(this)
      consumer.resume([{ topic, partitions: own }])
      if (isFollower) this.#seek(consumer)
      else assigned = assigned.then(() => this.#assign(lease, consumer))
      assigned.then(() => {
        this.#outage.worked()
        this.#hasStarted()
      }, this.#refuse)
    })
    try {
      await consumer.connect()
      await consumer.subscribe({ topic, fromBeginning: true })
      await consumer.run({
        autoCommit: false,
        eachBatchAutoResolve: false,
        partitionsConsumedConcurrently: partitions,
        eachBatch: (payload) =>
          isFollower ? this.#follow(payload, assigned) : this.#handle(payload, assigned),
      })
      const error = await Promise.race([crashed, refused, this.#closed])
      if (error) throw error
    } finally {
      await consumer.disconnect().catch(() => {})
      this.#lease?.end()
      if (isFollower) await deleteGroup(kafka, groupId)
    }
  }

  /**
   * Follows the heartbeats of a client. The returned function makes the lease of a new assignment.
   */
  #keepLease(consumer: KafkaConsumer, times: GroupTimes): (partitions: number[]) => GroupLease {
    let joinedAt = performance.now()
    let beatenAt = joinedAt
    consumer.on(consumer.events.REQUEST, ({ payload: { apiName, duration } }) => {
      if (apiName === 'SyncGroup') joinedAt = performance.now() - duration
      if (apiName === 'Heartbeat') beatenAt = performance.now() - duration
    })
    /** Heartbeats of the previous assignment say nothing about this one. */
    let before: GroupLease['sender'] = null
    consumer.on(consumer.events.HEARTBEAT, ({ payload: { memberId, groupGenerationId } }) => {
      if (before?.memberId === memberId && before.groupGenerationId === groupGenerationId) return
      this.#lease?.confirmed({ memberId, groupGenerationId }, beatenAt)
    })
    this.#onHeartbeatError = (error) => {
      const type = error instanceof Error && 'type' in error ? error.type : null
      if (type === 'REBALANCE_IN_PROGRESS') this.#lease?.rebalances(beatenAt)
      if (type === 'ILLEGAL_GENERATION' || type === 'UNKNOWN_MEMBER_ID') this.#lease?.end()
    }
    return (partitions) => {
      before = this.#lease?.sender ?? before
      this.#lease?.end()
      this.#lease = new GroupLease(partitions, joinedAt, times)
      return this.#lease
    }
  }

  /** Lets the reader of a group say where to start, unless a newer assignment waits. */
  async #assign(lease: GroupLease, consumer: KafkaConsumer): Promise<void> {
    if (lease !== this.#lease) return
    this.#positions.clear()
    this.#starts.clear()
    if (this.#options.mode === 'follow') return
    const starts = (await this.#options.onAssigned?.(lease)) ?? []
    if (lease !== this.#lease) return
    for (const [partition, offset] of starts) {
      this.#starts.set(partition, offset)
      consumer.seek({ topic: this.#deps.topic, partition, offset: String(offset) })
    }
  }

  /**
   * Whether a batch is not the next one to read: it was fetched before the reader said where to
   * start, or offsets before it were lost. The latter replaces the client.
   */
  #isStale({ batch, isStale }: EachBatchPayload): boolean {
    if (isStale()) return true // a `seek` has no effect yet
    const { partition } = batch
    const start = this.#starts.get(partition)
    if (start !== undefined) {
      // The types of the client lack the field.
      const { fetchedOffset } = batch as typeof batch & { readonly fetchedOffset: string }
      if (BigInt(fetchedOffset) !== start) return true
      this.#starts.delete(partition)
    }
    const next = this.#positions.get(partition)
    const first = batch.firstOffset()
    if (this.#options.mode === 'follow' || next === undefined || first === null) return false
    if (BigInt(first) === next) return false
    this.#refuse(new Error('the log lost the offsets after the last batch'))
    return true
  }

  /**
   * Handles a batch for a follower. The client fetches nothing more from a broker before all
   * batches of a response are handled, but a handler may wait for what another partition brings.
   * A partition whose handler takes long is therefore paused.
   */
  async #follow(payload: EachBatchPayload, assigned: Promise<void>): Promise<void> {
    const { partition } = payload.batch
    // A batch that the client before this one has handed out.
    let handled = this.#busy.get(partition)
    if (handled === undefined) {
      handled = this.#handle(payload, assigned).finally(() => this.#busy.delete(partition))
      this.#busy.set(partition, handled)
    }
    const giveUp = new AbortController()
    const isDone = handled.then(() => true)
    const isLate = pause(PATIENCE_MS, giveUp.signal).then(() => false)
    if (await Promise.race([isDone, isLate]).finally(() => giveUp.abort())) return
    const resume = payload.pause()
    handled.then(resume, this.#refuse)
  }

  async #handle(payload: EachBatchPayload, assigned: Promise<void>): Promise<void> {
    const { topic, logger, metrics } = this.#deps
    const { batch, heartbeat, isRunning } = payload
    const partition = batch.partition
    const over = new AbortController()
    const isOver = new Promise<false>((resolve) => {
      over.signal.addEventListener('abort', () => resolve(false), { once: true })
    })
    let lost: unknown
    let stop: FormatStop | null = null
    const beat = () => {
      if (!isRunning() || this.#closing.signal.aborted) over.abort()
      heartbeat().catch((error: unknown) => {
        this.#onHeartbeatError(error)
        lost ??= error
        over.abort()
      })
    }
    let ticks = 0
    const beating = setInterval(() => {
      ticks += 1
      // Only a heartbeat tells the generation, and a worker writes nothing before.
      if (this.#lease?.sender === null || ticks % HEARTBEAT_TICKS === 0) beat()
    }, TICK_MS)
    beat()
    try {
      // A member that waits for its reader joins again in time when the group rebalances.
      const isAssigned = await Promise.race([assigned.then(() => true), isOver])
      if (!isAssigned && lost) throw lost
      if (!isAssigned || this.#isStale(payload)) return
      const { records, time, next, newer } = await this.#read(partition, batch.messages)
      stop = newer
      const done =
        records.length === 0 ||
        (await handOut({ partition, time, records }, this.#handler, {
          signal: over.signal,
          retryDelayMs: 100,
          logger,
          onRedelivery: () => metrics.redeliveries.inc(),
        }))
      if (done && next !== null) {
        payload.resolveOffset(String(next - 1n))
        this.#positions.set(partition, next)
        if (this.#options.mode === 'shared')
          await payload.commitOffsetsIfNecessary({
            topics: [{ topic, partitions: [{ partition, offset: String(next) }] }],
          })
      }
    } finally {
      clearInterval(beating)
    }
    if (lost) throw lost
    if (stop !== null && this.#lease?.partitions.includes(partition)) {
      const { offset, version } = stop
      this.#deps.stopped.add(this, stop)
      logger.error(
        { partition, offset: String(offset), version },
        'log holds records of a newer version of the service: partition stops, upgrade this process',
      )
      payload.pause()
    }
  }

  /**
   * Reads a batch up to the first entry of a newer format. `next` is the offset after the last
   * entry read, `time` the newest time of these entries. Heartbeats continue meanwhile.
   */
  async #read(partition: number, messages: readonly KafkaMessage[]) {
    const { logger, metrics } = this.#deps
    const isFollower = this.#options.mode === 'follow'
    const records: R[] = []
    let next: bigint | null = null
    let time = 0
    const loopYield = new EventLoopYield()
    for (const message of messages) {
      if (loopYield.isDue) await loopYield.wait()
      const offset = BigInt(message.offset)
      const kind = message.headers?.kind?.toString()
      if (kind === FENCE_HEADERS.kind || (isFollower && kind === KEPT_HEADERS.kind)) {
        next = offset + 1n
        continue
      }
      const found = this.#deps.read(message.value, offset)
      if (found.kind === 'newer') {
        const { version } = found
        return { records, time, next, newer: { partition, offset, version } }
      }
      next = offset + 1n
      time = Math.max(time, Number(message.timestamp))
      if (found.kind === 'ok') records.push(found.record)
      else {
        metrics.malformedRecords.inc({ reason: found.reason })
        logger.warn(
          { partition, offset: message.offset, reason: found.reason },
          'malformed record skipped',
        )
      }
    }
    return { records, time, next, newer: null }
  }

  #seek(consumer: KafkaConsumer): void {
    for (const [partition, offset] of this.#positions)
      consumer.seek({ topic: this.#deps.topic, partition, offset: String(offset) })
  }

  /** `time`: unix milliseconds; null: the end. */
  async #findStart(time: number | null): Promise<void> {
    const { kafka, topic } = this.#deps
    const offsets = await withAdmin(kafka, (admin) =>
      time === null
        ? admin.fetchTopicOffsets(topic)
        : admin.fetchTopicOffsetsByTimestamp(topic, time),
    )
    for (const { partition, offset } of offsets) this.#positions.set(partition, BigInt(offset))
  }
}

/**
 * Starts a consumer that is among `consumers` until it is closed. Resolves when it has its
 * partitions.
 */
export async function startAmong<R>(
  consumers: Set<Consumer>,
  consumer: SupervisedConsumer<R>,
): Promise<Consumer> {
  consumers.add(consumer)
  await consumer.started
  return {
    async close() {
      await consumer.close()
      consumers.delete(consumer)
    },
  }
}

/** Reads an entry of the log of events. */
export function readLogRecord(value: Uint8Array | null, offset: bigint): EntryRead<LogRecord> {
  const decoded = decodeMessage(value)
  return decoded.kind === 'ok'
    ? { kind: 'ok', record: logRecord(offset, decoded.message) }
    : decoded
}

/** Returns an entry with its offset. */
function logRecord(offset: bigint, message: LogMessage): LogRecord {
  if (message.kind !== 'record') return { offset, ...message }
  // Nearly all entries. Each field by name, because a spread is several times slower.
  const { kind, record, late, blockId = null, decoderVersion = DECODER_VERSION } = message
  if (late !== null) return { offset, kind, record, late, blockId, decoderVersion }
  return { offset, kind, record, late, decoderVersion }
}

/** A client that crashed is replaced, not restarted. */
const never = async () => false
