import { setTimeout as pause } from 'node:timers/promises'
import { createKafkaClient, withAdmin } from '../../pipeline/log/kafka-client.ts'
import { createLogger } from '../../pipeline/runtime/logger.ts'

/** Resolves when every replica of every topic is in sync. `brokers`: addresses with commas. */
export async function brokersInSync(brokers: string): Promise<void> {
  const config = { brokers: brokers.split(','), topicPrefix: '', ssl: false, sasl: null }
  const kafka = createKafkaClient(config, createLogger('silent'))
  for (;;) {
    const { topics } = await withAdmin(kafka, (admin) => admin.fetchTopicMetadata())
    const partitions = topics.flatMap((topic) => topic.partitions)
    if (partitions.every(({ isr, replicas }) => isr.length === replicas.length)) return
    await pause(100)
  }
}
