import { Kafka, logLevel } from 'kafkajs'
import type { KafkaConfig } from '../config.ts'

/** Resolves when a Kafka answers and can coordinate groups (a new one makes its inner topics first). */
export async function probeKafka(config: KafkaConfig): Promise<void> {
  const { brokers, ssl } = config
  const kafka = new Kafka({ brokers: [...brokers], ssl, logLevel: logLevel.NOTHING })
  const admin = kafka.admin({ retry: { retries: 0 } })
  try {
    await admin.connect()
    await admin.fetchOffsets({ groupId: 'probe' })
  } finally {
    await admin.disconnect()
  }
}
