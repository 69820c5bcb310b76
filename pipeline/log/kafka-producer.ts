import { ServiceError } from '../domain/service-error.ts'
import type { Logger } from '../runtime/logger.ts'
import { pause } from '../runtime/pause.ts'
import type { OutgoingEntry } from './append-queue.ts'
import {
  COMPRESSION,
  createProducer,
  type KafkaClient,
  type RecordMetadata,
} from './kafka-client.ts'
import { isFenced } from './kafka-writer.ts'

/** A producer that waits for a lost server. */
export interface PatientProducer {
  /**
   * Resolves when all in-sync replicas have acknowledged all entries. Waits for a lost server
   * without a limit. Rejects with `closed` once closed, with `fenced` if another process writes now
   * (rule K14), and with `internal` if Kafka refuses for good (no rights, entry too large).
   */
  send(entries: readonly OutgoingEntry[]): Promise<void>
  close(): Promise<void>
}

/**
 * Connects a producer to one topic. Rejects when no broker answers. `renewMs`: when the producer
 * connects anew, because Kafka forgets names that are not asked for in 7 days
 * (`transactional.id.expiration.ms`).
 */
export async function openProducer(
  kafka: KafkaClient,
  topic: string,
  logger: Logger,
  renewMs = Number.POSITIVE_INFINITY,
): Promise<PatientProducer> {
  const producer = createPatientProducer(kafka, topic, logger, renewMs)
  await producer.connect()
  return producer
}

/** A producer that connects with the first `send`, which waits as every other. */
export function createPatientProducer(
  kafka: KafkaClient,
  topic: string,
  logger: Logger,
  renewMs = Number.POSITIVE_INFINITY,
): PatientProducer & { connect(): Promise<void> } {
  const closing = new AbortController()
  let producer: Awaited<ReturnType<typeof connectProducer>> | null = null
  let renewAt = 0

  /** A new identity: the old one's sequence may be broken after an error. */
  const renew = async () => {
    renewAt = performance.now() + renewMs
    await producer?.disconnect().catch(() => {})
    const renewed = await connectProducer(kafka)
    producer = renewed
    if (closing.signal.aborted) await renewed.disconnect()
    return renewed
  }

  return {
    async connect() {
      await renew()
    },
    async send(entries) {
      let waiting = false
      let messages = [...entries]
      for (let pauseMs = 100; ; pauseMs = Math.min(2 * pauseMs, 2000)) {
        if (closing.signal.aborted) throw new ServiceError('closed', 'the log is closed')
        try {
          const isUsable = !waiting && performance.now() <= renewAt
          const open = isUsable && producer !== null ? producer : await renew()
          while (messages.length > 0) {
            const answers = await open.sendBatch({
              acks: -1,
              compression: COMPRESSION,
              topicMessages: [{ topic, messages }],
            })
            messages = withoutAnswer(messages, answers)
          }
          if (waiting) logger.info('log appends again')
          return
        } catch (error) {
          if (isFenced(error))
            throw new ServiceError('fenced', 'another process appends to the log now', {
              cause: error,
            })
          const refusal = refusalIn(error)
          if (refusal !== null && !closing.signal.aborted)
            throw new ServiceError('internal', `Kafka refuses to append: ${hintOf(refusal)}`, {
              cause: error,
            })
          if (!waiting) logger.warn({ reason: (error as Error).message }, 'log waits for Kafka')
          waiting = true
        }
        await pause(pauseMs, closing.signal)
      }
    },
    async close() {
      closing.abort()
      await producer?.disconnect().catch(() => {})
    },
  }
}

/**
 * Returns the entries of partitions that no broker has acknowledged. `sendBatch` of kafkajs 2.2.4
 * may resolve without them. When it retries after one broker failed, it skips every broker that has
 * answered before, also one that has become the leader of a partition of the failed broker.
 */
function withoutAnswer(
  messages: readonly OutgoingEntry[],
  answers: readonly RecordMetadata[],
): OutgoingEntry[] {
  const answered = new Set(answers.map(({ partition }) => partition))
  return messages.filter(({ partition }) => !answered.has(partition))
}

async function connectProducer(kafka: KafkaClient) {
  const producer = createProducer(kafka)
  try {
    await producer.connect()
    return producer
  } catch (error) {
    await producer.disconnect().catch(() => {})
    throw error
  }
}

/** Errors that a retry does not fix. Source: Apache Kafka protocol guide, error codes. */
const REFUSALS = new Set([
  'TOPIC_AUTHORIZATION_FAILED',
  'TRANSACTIONAL_ID_AUTHORIZATION_FAILED',
  'CLUSTER_AUTHORIZATION_FAILED',
  'MESSAGE_TOO_LARGE',
  'RECORD_LIST_TOO_LARGE',
  'CORRUPT_MESSAGE',
  'INVALID_TIMESTAMP',
  'UNSUPPORTED_FOR_MESSAGE_FORMAT',
])

/** An error with what to do about it. */
function hintOf(refusal: string): string {
  return refusal === 'INVALID_TIMESTAMP'
    ? `${refusal}: set the clock of this machine right, or message.timestamp.type of the topic to LogAppendTime`
    : refusal
}

/** Returns the name of such an error in a chain of causes. */
function refusalIn(error: unknown): string | null {
  for (let at: unknown = error; at instanceof Error; at = at.cause) {
    const type = 'type' in at && typeof at.type === 'string' ? at.type : at.name
    if (REFUSALS.has(type)) return type
    if (type === 'KafkaJSSASLAuthenticationError') return 'wrong user or password'
  }
  return null
}
