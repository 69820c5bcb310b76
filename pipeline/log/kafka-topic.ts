import type { KafkaConfig } from '../config.ts'
import { ServiceError } from '../domain/service-error.ts'
import type { Logger } from '../runtime/logger.ts'
import { type Admin, type KafkaClient, readTopicSetting, withAdmin } from './kafka-client.ts'
import type { Topic } from './topics.ts'

/** How many brokers have a copy of a topic, and how many of them must have a write. */
export interface Replication {
  readonly replicas: number
  readonly minInSync: number
}

/**
 * Returns the replication of a topic on a number of brokers (rule K11). `configured` is
 * `KAFKA_REPLICATION_FACTOR`.
 */
export function replicationOf(brokers: number, configured: number | null = null): Replication {
  const replicas = configured ?? Math.min(3, Math.max(1, brokers))
  return { replicas, minInSync: Math.max(1, replicas - 1) }
}

/**
 * Creates the topic if it does not exist. Returns its number of partitions. Rejects with
 * `bad_config` if there are fewer brokers than `KAFKA_REPLICATION_FACTOR`, or if the topic is less
 * durable than that. Without that key, a topic that is less durable than the number of brokers
 * allows is logged as a warning.
 */
export function ensureTopic(
  kafka: KafkaClient,
  topic: Topic,
  config: KafkaConfig,
  logger: Logger,
): Promise<number> {
  return withAdmin(kafka, async (admin) => {
    const configured = config.replicationFactor ?? null
    const { brokers } = await admin.describeCluster()
    // A broker that is down at the moment is listed in the configuration.
    const known = Math.max(brokers.length, config.brokers.length)
    const wanted = replicationOf(known, configured)
    if (!(await admin.listTopics()).includes(topic.name)) await createTopic(admin, topic, wanted)
    const { topics } = await admin.fetchTopicMetadata({ topics: [topic.name] })
    const partitions = topics[0]?.partitions ?? []
    const replicas = Math.min(...partitions.map((partition) => partition.replicas.length))
    const minInSync = await readMinInSync(admin, topic.name)
    const isDurable =
      replicas >= wanted.replicas && (minInSync === null || minInSync >= wanted.minInSync)
    if (!isDurable && configured !== null)
      throw new ServiceError(
        'bad_config',
        `KAFKA_REPLICATION_FACTOR: topic ${topic.name} has replication factor ${replicas} and min.insync.replicas ${minInSync}, expected ${wanted.replicas} and ${wanted.minInSync}: change the topic with kafka-reassign-partitions and kafka-configs`,
      )
    if (!isDurable)
      logger.warn({ topic: topic.name, replicas, minInSync, wanted }, 'topic could be more durable')
    return partitions.length
  })
}

async function createTopic(admin: Admin, topic: Topic, wanted: Replication): Promise<void> {
  const settings = { ...topic.settings, [MIN_IN_SYNC]: String(wanted.minInSync) }
  const configEntries = Object.entries(settings).map(([name, value]) => ({ name, value }))
  const { name, partitions } = topic
  const { replicas: replicationFactor } = wanted
  try {
    // False when another process was faster.
    await admin.createTopics({
      waitForLeaders: false,
      topics: [{ topic: name, numPartitions: partitions, replicationFactor, configEntries }],
    })
  } catch (cause) {
    if (!isRefused(cause)) throw cause
    throw new ServiceError(
      'bad_config',
      `KAFKA_REPLICATION_FACTOR: Kafka has fewer than ${replicationFactor} brokers for topic ${name}: start them, or set it to their number`,
      { cause },
    )
  }
}

const MIN_IN_SYNC = 'min.insync.replicas'

/** Null if the user of this process may not read the settings of the topic. */
async function readMinInSync(admin: Admin, topic: string): Promise<number | null> {
  const value = await readTopicSetting(admin, topic, MIN_IN_SYNC).catch(() => null)
  return value === null ? null : Number(value)
}

/** Whether the brokers refuse the replication factor. The client wraps one error per topic. */
function isRefused(error: unknown): boolean {
  const errors = error instanceof Error && 'errors' in error ? error.errors : []
  return Array.isArray(errors) && errors.some(({ type }) => type === 'INVALID_REPLICATION_FACTOR')
}
