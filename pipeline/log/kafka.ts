import type { KafkaConfig } from '../config.ts'
import { aliasOf } from '../domain/alias.ts'
import type { BlockId } from '../domain/block-id.ts'
import { WRITTEN_FORMATS } from '../domain/log-format.ts'
import { ServiceError } from '../domain/service-error.ts'
import type {
  AppendedBlock,
  RefoldRequest,
  ResumePoint,
  SlotMarker,
  SlotRecords,
  WalletRecord,
  Withdrawal,
} from '../domain/slot.ts'
import type { Logger } from '../runtime/logger.ts'
import { createOutageLog } from '../runtime/outage-log.ts'
import { pause } from '../runtime/pause.ts'
import type { Registry } from '../runtime/telemetry.ts'
import { type AppendQueue, createAppendQueue, type OutgoingEntry } from './append-queue.ts'
import {
  type Admin,
  createKafkaClient,
  type KafkaClient,
  ONCE,
  readMinSessionTimeout,
  whileSettling,
  withAdmin,
} from './kafka-client.ts'
import {
  FENCE_HEADERS,
  KEPT_HEADERS,
  readLogRecord,
  SupervisedConsumer,
  startAmong,
} from './kafka-consumer.ts'
import { hasCommitted, hasMembers, readEnds, readExtent } from './kafka-offsets.ts'
import { openProducer, type PatientProducer } from './kafka-producer.ts'
import { KafkaStateLog } from './kafka-state-log.ts'
import { findAppended, findResumePoint, readCheckpoint } from './kafka-tail.ts'
import { ensureTopic } from './kafka-topic.ts'
import { createWriterClient } from './kafka-writer.ts'
import type { BatchHandler, ConsumeOptions, Consumer, EventLog, LogExtent } from './log.ts'
import type { LateOrigin, LogMessage, RecordMessage } from './log-message.ts'
import { type EntryValue, encodeMessage } from './record.ts'
import type { StateLog } from './state-log.ts'
import { type FormatStop, newerFormat, StoppedPartitions } from './stopped-partitions.ts'
import {
  type AppendMetrics,
  createAppendMetrics,
  createLogMetrics,
  type LogMetrics,
} from './telemetry.ts'
import {
  MAX_PARTITIONS,
  PARTITIONS,
  partitionOf,
  type Topic,
  walletEventsTopic,
  walletStateTopic,
} from './topics.ts'

/**
 * Opens the log on Kafka. Creates the topic if it does not exist, with as many partitions as
 * `stored` says of the log that storage comes from; 0: as configured (rule K21). Rejects with a
 * ServiceError: `unreachable` if no broker answers, `bad_config` if the topic has another number of
 * partitions than either, or fewer replicas than configured (rule K11).
 */
export async function createKafkaLog(
  config: KafkaConfig,
  deps: { readonly logger: Logger; readonly registry: Registry },
  stored = 0,
): Promise<EventLog> {
  const wanted = walletEventsTopic(config.topicPrefix, stored || config.partitions || PARTITIONS)
  const kafka = createKafkaClient(config, deps.logger)
  const ensured = (one: Topic) =>
    orUnreachable(
      config,
      whileSettling(() => ensureTopic(kafka, one, config, deps.logger)),
    )
  const partitions = await ensured(wanted)
  const topic = { ...wanted, partitions }
  checkPartitions(topic, stored, config.partitions)
  const stateTopic = walletStateTopic(config.topicPrefix, partitions)
  await ensured(stateTopic)
  const sessionTimeoutMs = Math.max(MIN_SESSION_MS, await readMinSessionTimeout(kafka))
  const producer = await orUnreachable(
    config,
    whileSettling(() => openProducer(kafka, topic.name, deps.logger)),
  )
  return new KafkaLog({
    config,
    kafka,
    topic,
    stateTopic,
    sessionTimeoutMs,
    producer,
    logger: deps.logger,
    registry: deps.registry,
    metrics: createLogMetrics(deps.registry),
  })
}

/** Rejects a number of partitions with which entries of a wallet would change their partition. */
function checkPartitions({ name, partitions }: Topic, stored: number, configured = 0): void {
  const has = `topic ${name} has ${partitions} partitions`
  if (stored !== 0 && stored !== partitions)
    throw new ServiceError(
      'bad_config',
      `KAFKA_TOPIC_PREFIX: ${has}, but storage was filled from one with ${stored}: stop every process and delete the topic; the next start creates it with ${stored}, and fetches what storage lacks`,
    )
  if (configured !== 0 && configured !== partitions)
    throw new ServiceError(
      'bad_config',
      `KAFKA_PARTITIONS: ${has}, and a topic keeps the number that it began with: unset it, or set it to ${partitions}`,
    )
  if (partitions > MAX_PARTITIONS)
    throw new ServiceError(
      'bad_config',
      `KAFKA_TOPIC_PREFIX: ${has}, and ${MAX_PARTITIONS} is the most: choose another prefix`,
    )
}

/** A dead member is detected after this time. A stall of the event loop must be shorter. */
const MIN_SESSION_MS = 3000
/** Brokers accept a megabyte for a partition and request by default. */
const MAX_REQUEST_BYTES = 512 * 1024
/** How often the writer renews its name: see `openProducer`. */
const RENEW_MS = 24 * 3600 * 1000
/** How often `settled` reads the offsets of a group. */
const SETTLED_POLL_MS = 200

interface Parts {
  readonly config: KafkaConfig
  readonly kafka: KafkaClient
  readonly topic: Topic
  readonly stateTopic: Topic
  readonly sessionTimeoutMs: number
  readonly producer: PatientProducer
  readonly logger: Logger
  readonly registry: Registry
  readonly metrics: LogMetrics
}

class KafkaLog implements EventLog {
  readonly partitions: number
  readonly states: StateLog
  readonly epoch = 0
  readonly #parts: Parts
  #producer: PatientProducer
  readonly #queue: AppendQueue
  readonly #closing = new AbortController()
  readonly #consumers = new Set<Consumer>()
  readonly #stopped: StoppedPartitions
  #appendMetrics: AppendMetrics | undefined
  /** What `checkpoint` found at the end of the log that this version cannot read. */
  #newerAtEnd: FormatStop | null = null

  constructor(parts: Parts) {
    this.#parts = parts
    this.partitions = parts.topic.partitions
    this.#producer = parts.producer
    this.#stopped = new StoppedPartitions(parts.metrics)
    this.states = new KafkaStateLog(this.#consumerDeps(parts.stateTopic))
    this.#queue = createAppendQueue((entries) => this.#producer.send(entries), MAX_REQUEST_BYTES)
  }

  async lead(): Promise<void> {
    const { kafka, topic, config, logger } = this.#parts
    const client = createWriterClient(kafka, `${topic.name}.ingest`)
    const producer = await orUnreachable(
      config,
      whileSettling(() => openProducer(client, topic.name, logger, RENEW_MS)),
    )
    const before = this.#producer
    this.#producer = producer
    await before.close()
    // From its entry on, each partition refuses the entries of the process that led before.
    const fence = { key: null, value: '', headers: FENCE_HEADERS }
    const partitions = Array.from({ length: this.partitions }, (_, partition) => partition)
    await this.#queue.append(partitions.map((partition) => ({ partition, ...fence })))
  }

  appendSlot({ marker, records }: SlotRecords): Promise<void> {
    const entries = records.map((record) => this.#recordEntry({ record, late: null }))
    const markers = this.#everywhere({ kind: 'marker', marker })
    return this.#append([...entries, ...markers], records.length)
  }

  appendLate(
    records: readonly WalletRecord[],
    late: LateOrigin,
    blockId: BlockId | null = null,
  ): Promise<void> {
    return this.#append(
      records.map((record) => this.#recordEntry({ record, late, blockId })),
      records.length,
    )
  }

  appendWithdrawal(withdrawal: Withdrawal): Promise<void> {
    return this.#append(this.#everywhere({ kind: 'withdrawal', withdrawal }), 0)
  }

  appendRefolds(refolds: readonly RefoldRequest[]): Promise<void> {
    return this.#append(
      refolds.map((refold) => this.#entryOf(refold.wallet, { kind: 'refold', refold })),
      refolds.length,
    )
  }

  async checkpoint(): Promise<SlotMarker | null> {
    const { checkpoint, newer } = await this.#fromTail(readCheckpoint)
    this.#newerAtEnd = newer
    return checkpoint
  }

  async resumePoint(): Promise<ResumePoint> {
    return this.#fromTail(findResumePoint)
  }

  async appendedBlocks(checkpoint: SlotMarker, slots: number): Promise<readonly AppendedBlock[]> {
    return this.#fromTail((kafka, topic) => findAppended(kafka, topic, checkpoint, slots))
  }

  /** Reads the ends of the partitions; retries a lost server some times. */
  async #fromTail<T>(read: (kafka: KafkaClient, topic: string) => Promise<T>): Promise<T> {
    const { kafka, topic, config, logger } = this.#parts
    const outage = createOutageLog(logger, 'checkpoint is read again', 'checkpoint was read')
    for (let attempt = 1; ; attempt++) {
      try {
        const found = await read(kafka, topic.name)
        outage.worked()
        return found
      } catch (cause) {
        if (cause instanceof ServiceError) throw cause
        if (attempt === 5 || this.#closing.signal.aborted) throw unreachable(config, cause)
        outage.failed({ reason: (cause as Error).message })
      }
      await pause(attempt * 500, this.#closing.signal)
    }
  }

  async extent(times: ReadonlyMap<number, number> = new Map()): Promise<LogExtent> {
    const { kafka, topic, config } = this.#parts
    return orUnreachable(config, readExtent(kafka, topic.name, times))
  }

  async settled(group: string, stop: AbortSignal): Promise<void> {
    const { kafka, topic, logger } = this.#parts
    let ends: ReadonlyMap<number, bigint> | null = null
    const isSettled = async (admin: Admin) => {
      ends ??= await readEnds(admin, topic.name)
      return hasCommitted(admin, { topic: topic.name, group, ends })
    }
    const outage = createOutageLog(logger, 'offsets are read again', 'offsets were read')
    for (;;) {
      if (stop.aborted || this.#closing.signal.aborted)
        throw new ServiceError('closed', 'stopped while waiting for a group')
      try {
        const isDone = await withAdmin(kafka, isSettled)
        outage.worked()
        if (isDone) return
      } catch (cause) {
        outage.failed({ reason: (cause as Error).message })
      }
      await pause(SETTLED_POLL_MS, stop)
    }
  }

  async hasConsumer(group: string): Promise<boolean> {
    const { kafka, topic, config } = this.#parts
    return orUnreachable(
      config,
      withAdmin(kafka, (admin) => hasMembers(admin, topic.name, group)),
    )
  }

  async consume(options: ConsumeOptions, handler: BatchHandler): Promise<Consumer> {
    if (this.#closing.signal.aborted) throw new ServiceError('closed', 'the log is closed')
    const deps = { ...this.#consumerDeps(this.#parts.topic), read: readLogRecord }
    return startAmong(this.#consumers, new SupervisedConsumer(deps, options, handler))
  }

  async checkFormat(): Promise<void> {
    this.#stopped.check()
    if (this.#newerAtEnd !== null) throw newerFormat(this.#newerAtEnd)
  }

  async ping(): Promise<void> {
    const { kafka, config } = this.#parts
    if (this.#closing.signal.aborted) throw new ServiceError('closed', 'the log is closed')
    await orUnreachable(
      config,
      withAdmin(kafka, (admin) => admin.describeCluster(), ONCE),
    )
  }

  async close(): Promise<void> {
    this.#closing.abort()
    this.#queue.end(new ServiceError('closed', 'the log is closed'))
    await this.states.close()
    await Promise.all([...this.#consumers].map((consumer) => consumer.close()))
    await this.#producer.close()
  }

  #consumerDeps({ name: topic }: Topic) {
    const { kafka, sessionTimeoutMs, logger, metrics } = this.#parts
    const { partitions } = this
    return { kafka, topic, partitions, sessionTimeoutMs, logger, metrics, stopped: this.#stopped }
  }

  async #append(entries: readonly OutgoingEntry[], records: number): Promise<void> {
    this.#appendMetrics ??= createAppendMetrics(this.#parts.registry)
    const { appendSeconds, appendedRecords } = this.#appendMetrics
    const started = performance.now()
    await this.#queue.append(entries)
    appendSeconds.observe((performance.now() - started) / 1000)
    appendedRecords.inc(records)
  }

  /** Entries of a message on every partition. */
  #everywhere(message: LogMessage): OutgoingEntry[] {
    const value = this.#encode(message)
    return Array.from({ length: this.partitions }, (_, partition) => ({
      partition,
      key: null,
      value,
    }))
  }

  #recordEntry(message: RecordMessage): OutgoingEntry {
    const { record } = message
    const entry = this.#entryOf(record.wallet, { kind: 'record', ...message })
    return record.kind === 'kept' ? { headers: KEPT_HEADERS, ...entry } : entry
  }

  #entryOf(wallet: number, message: LogMessage): OutgoingEntry {
    return {
      partition: partitionOf(wallet, this.partitions),
      key: aliasOf(wallet),
      value: this.#encode(message),
    }
  }

  #encode(message: LogMessage): EntryValue {
    return encodeMessage(message, this.#parts.config.format ?? WRITTEN_FORMATS.default)
  }
}

/** Settles as `work` does; an error of the client becomes `unreachable`. */
function orUnreachable<T>(config: KafkaConfig, work: Promise<T>): Promise<T> {
  return work.catch((cause: unknown) => {
    throw cause instanceof ServiceError ? cause : unreachable(config, cause)
  })
}

function unreachable(config: KafkaConfig, cause: unknown): ServiceError {
  const reason = cause instanceof Error ? cause.message : 'unknown'
  return new ServiceError(
    'unreachable',
    `KAFKA_BROKERS: no answer from ${config.brokers.join(', ')}: ${reason}`,
    { cause },
  )
}
