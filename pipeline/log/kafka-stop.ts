import type { ConsumerConfig, KafkaClient, KafkaConsumer } from './kafka-client.ts'
import { withClusters } from './kafka-internals.ts'
import { leaveSilentBroker } from './kafka-sockets.ts'

/**
 * Creates a consumer whose `disconnect` always ends. In kafkajs 2.2.4 a consumer that is stopped
 * while it replaces its fetchers, because the list of brokers has changed, starts new ones all the
 * same. They fetch nothing and never wait, so that no timer, signal or request of the process is
 * served again. A fetcher reads the list of brokers before each fetch: once the consumer is to
 * stop, that fails and ends the loop. The consumer also leaves a broker that hangs.
 */
export function createConsumer(kafka: KafkaClient, options: ConsumerConfig): KafkaConsumer {
  let isStopping = false
  const stoppable = withClusters(kafka, (cluster) => {
    const getNodeIds = cluster.getNodeIds.bind(cluster)
    cluster.getNodeIds = () => {
      if (isStopping) throw new Error('the consumer stops')
      return getNodeIds()
    }
    return cluster
  })
  const consumer = stoppable.consumer(options)
  consumer.on(consumer.events.REQUEST_TIMEOUT, ({ payload }) => leaveSilentBroker(payload.broker))
  const disconnect = consumer.disconnect
  return Object.assign(consumer, {
    disconnect() {
      isStopping = true
      return disconnect()
    },
  })
}
