import { setTimeout as delay } from 'node:timers/promises'
import kafkajs, { type Admin, type AdminConfig, Kafka, logLevel, Partitioners } from 'kafkajs'
import type { KafkaConfig } from '../config.ts'
import type { Logger } from '../runtime/logger.ts'
import { moveTimesWithClock } from './kafka-clock.ts'
import { createKafkaLogger } from './kafka-logger.ts'
import { stopIdleTimers } from './kafka-request-queue.ts'
import { byAnswer, leaveSilentBroker, leaveSilentOnConnect, openSocket } from './kafka-sockets.ts'
import { loadZstd } from './zstd.ts'

// Types for the rest of this room. No other file imports the package of the client.
export type {
  Admin,
  Consumer as KafkaConsumer,
  ConsumerConfig,
  EachBatchPayload,
  KafkaMessage,
  PartitionAssigner,
  RecordMetadata,
} from 'kafkajs'
export type KafkaClient = Kafka

export const { AssignerProtocol, PartitionAssigners } = kafkajs

moveTimesWithClock()
stopIdleTimers()
leaveSilentOnConnect()

const zstd = await loadZstd()
kafkajs.CompressionCodecs[kafkajs.CompressionTypes.ZSTD] = () => zstd
/** How appended batches are compressed. The client knows zstd by name only. */
export const COMPRESSION = kafkajs.CompressionTypes.ZSTD

/** A few attempts within three seconds. Callers then retry or fail by their own rules. */
const RETRY = { retries: 5, initialRetryTime: 50, maxRetryTime: 1000 }

/** Returns the Kafka client of this process. It connects when it is used. */
export function createKafkaClient(config: KafkaConfig, logger: Logger): KafkaClient {
  return new Kafka({
    ...connectionOf(config),
    logLevel: logLevel.INFO,
    logCreator: createKafkaLogger(logger),
    retry: RETRY,
  })
}

function connectionOf({ brokers, ssl, sasl }: KafkaConfig) {
  return {
    clientId: 'tracked-wallets',
    brokers: () => byAnswer(brokers),
    connectionTimeout: 3000,
    requestTimeout: 15_000,
    ssl,
    socketFactory: openSocket,
    ...(sasl === null ? {} : { sasl: saslOf(sasl) }),
  }
}

/** The client's types need a literal mechanism with each kind of credentials. */
function saslOf({ mechanism, ...credentials }: NonNullable<KafkaConfig['sasl']>) {
  switch (mechanism) {
    case 'plain':
      return { mechanism, ...credentials }
    case 'scram-sha-256':
      return { mechanism, ...credentials }
    case 'scram-sha-512':
      return { mechanism, ...credentials }
  }
}

/**
 * Returns an idempotent producer: an entry that is sent again after a lost response is on the log
 * once.
 */
export function createProducer(kafka: KafkaClient) {
  const producer = kafka.producer({
    idempotent: true,
    maxInFlightRequests: 1,
    allowAutoTopicCreation: false,
    // Not used: every entry names its partition.
    createPartitioner: Partitioners.DefaultPartitioner,
    retry: RETRY,
  })
  producer.on(producer.events.REQUEST_TIMEOUT, ({ payload }) => leaveSilentBroker(payload.broker))
  return producer
}

/** Asks the server as an administrator, on a connection for this question. */
export async function withAdmin<T>(
  kafka: KafkaClient,
  ask: (admin: Admin) => Promise<T>,
  options?: AdminConfig,
): Promise<T> {
  const admin = kafka.admin(options)
  admin.on(admin.events.REQUEST_TIMEOUT, ({ payload }) => leaveSilentBroker(payload.broker))
  try {
    await admin.connect()
    return await ask(admin)
  } finally {
    await admin.disconnect().catch(() => {})
  }
}

/** Options of a question that is asked once. */
export const ONCE: AdminConfig = { retry: { retries: 0 } }

/**
 * Retries for at most 30 seconds while the server answers that it is not ready. A broker that has
 * just started loads its internal topics, and a new topic is not known everywhere at once. Does not
 * wait for a server that does not answer.
 */
export async function whileSettling<T>(ask: () => Promise<T>): Promise<T> {
  for (const deadline = performance.now() + SETTLING_MS; ; await delay(100)) {
    try {
      return await ask()
    } catch (error) {
      if (!isNotReady(error) || performance.now() > deadline) throw error
    }
  }
}

const SETTLING_MS = 30_000

/** Whether the error is a response of a broker, and a retry may succeed. */
function isNotReady(error: unknown): boolean {
  for (let at: unknown = error; at instanceof Error; at = at.cause)
    if ('type' in at && typeof at.type === 'string' && 'retriable' in at && at.retriable === true)
      return true
  return false
}

/** Returns a setting of a topic, by default that of its brokers; null if they do not say. */
export async function readTopicSetting(
  admin: Admin,
  topic: string,
  name: string,
): Promise<string | null> {
  const { resources } = await admin.describeConfigs({
    includeSynonyms: false,
    resources: [{ type: kafkajs.ConfigResourceTypes.TOPIC, name: topic, configNames: [name] }],
  })
  return resources[0]?.configEntries[0]?.configValue ?? null
}

/**
 * Returns the shortest session of a group member that the brokers allow, in milliseconds; their
 * default if they do not say.
 */
export function readMinSessionTimeout(kafka: KafkaClient): Promise<number> {
  const name = 'group.min.session.timeout.ms'
  return withAdmin(kafka, async (admin) => {
    const { brokers } = await admin.describeCluster()
    const { resources } = await admin.describeConfigs({
      includeSynonyms: false,
      resources: brokers.map(({ nodeId }) => ({
        type: kafkajs.ConfigResourceTypes.BROKER,
        name: String(nodeId),
        configNames: [name],
      })),
    })
    const values = resources.flatMap(({ configEntries }) =>
      configEntries.map(({ configValue }) => Number(configValue)),
    )
    return values.every((ms) => ms > 0) ? Math.max(...values) : DEFAULT_MIN_SESSION_MS
  }).catch(() => DEFAULT_MIN_SESSION_MS) // not every user may read a broker's settings
}

const DEFAULT_MIN_SESSION_MS = 6000

/**
 * Removes a group without members and offsets. If that fails, Kafka removes it within minutes
 * (`offsets.retention.check.interval.ms`).
 */
export async function deleteGroup(kafka: KafkaClient, groupId: string): Promise<void> {
  await withAdmin(kafka, (admin) => admin.deleteGroups([groupId]), ONCE).catch(() => {})
}

/**
 * Resolves when a Kafka answers and can coordinate groups. A new server creates its internal topics
 * first.
 */
export async function probeKafka(config: KafkaConfig): Promise<void> {
  const kafka = new Kafka({ ...connectionOf(config), logLevel: logLevel.NOTHING })
  await withAdmin(kafka, (admin) => admin.fetchOffsets({ groupId: 'probe' }), ONCE)
}
