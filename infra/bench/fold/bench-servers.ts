import { randomBytes } from 'node:crypto'
import type { KafkaConfig } from '../../../pipeline/config.ts'
import { createStore } from '../../../pipeline/store/create-store.ts'
import { analystDatabase, migrate } from '../../../pipeline/store/migrate.ts'
import type { Store } from '../../../pipeline/store/store.ts'
import { loadDataConfig } from '../../service/config.ts'

/** The real servers of one part of the bench, without data of other parts. */
export interface BenchServers {
  /** Creates a Kafka configuration with a unique topic prefix. */
  kafka(): KafkaConfig
  /** Creates a separate database with the current schema; `remove` drops it. */
  openStore(): Promise<{ readonly store: Store; remove(): Promise<void> }>
}

/** The servers that `env` names (`KAFKA_BROKERS`, `CLICKHOUSE_URL`). */
export function benchServers(env: Readonly<Record<string, string | undefined>>): BenchServers {
  const brokers = env.KAFKA_BROKERS?.split(',') ?? []
  return {
    kafka: () => ({
      brokers,
      ssl: false,
      sasl: null,
      topicPrefix: `bench-${randomBytes(4).toString('hex')}-`,
    }),
    async openStore() {
      const database = `bench_${randomBytes(6).toString('hex')}`
      const { store: config } = loadDataConfig({
        ...env,
        CLICKHOUSE_URL: env.CLICKHOUSE_URL?.replace(/^(https?:\/\/[^/]+).*/, `$1/${database}`),
      })
      const store = await createStore(config)
      await migrate(store)
      return {
        store,
        async remove() {
          await store.command(`DROP DATABASE IF EXISTS ${analystDatabase(database)}`)
          await store.command(`DROP DATABASE ${database}`)
          await store.close()
        },
      }
    },
  }
}
