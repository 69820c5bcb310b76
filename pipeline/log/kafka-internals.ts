import type { KafkaClient } from './kafka-client.ts'

/*
 * kafkajs 2.2.4 sends no request but its own through its public interface. Two requests need more:
 * the id of a topic (`kafka-topic-id.ts`) and the identity of a writer (`kafka-writer.ts`). They go
 * over connections of the client's internal cluster, which also does TLS and authentication. A
 * consumer needs it to stop (`kafka-stop.ts`).
 * `kafka.contract.test.ts` fails if another version of the client has other internals.
 */

/** The part of the client's internal cluster that is used here. */
export interface Cluster {
  connect(): Promise<void>
  refreshMetadata(): Promise<void>
  disconnect(): Promise<void>
  /** Ids of the brokers, as last read. */
  getNodeIds(): readonly number[]
  readonly brokerPool: {
    /** What the brokers support, by API key. */
    readonly versions: Readonly<Record<number, { readonly maxVersion: number }>> | null
    /** Tries each broker; null when all of them failed. */
    withBroker<T>(ask: (found: { readonly broker: Broker }) => Promise<T>): Promise<T | null>
  }
  /** `coordinatorType` 1: the coordinator of a transactional id. */
  findGroupCoordinator(of: { groupId: string; coordinatorType: 1 }): Promise<Broker>
  /** Asked by an idempotent producer, for its id and epoch. */
  findControllerBroker(): Promise<Pick<Broker, 'initProducerId'>>
}

/** A broker of the client's internal cluster. */
export interface Broker {
  initProducerId(request: object): Promise<ProducerIdentity>
  readonly connectionPool: {
    send<T>(exchange: {
      readonly request: {
        readonly apiKey: number
        readonly apiVersion: number
        readonly apiName: string
        encode(): Promise<{ readonly buf: Buffer; readonly buffer: Buffer }>
      }
      readonly response: {
        decode(bytes: Buffer): Promise<Buffer>
        parse(bytes: Buffer): Promise<T>
      }
    }): Promise<T>
  }
}

/** By what Kafka knows a producer. A higher epoch of an id makes it refuse the lower ones. */
export interface ProducerIdentity {
  /** A decimal number. */
  readonly producerId: string
  readonly producerEpoch: number
}

/** A request that kafkajs cannot send. `body`: the rest of the header, then the request. */
export interface RawRequest {
  readonly apiKey: number
  readonly apiVersion: number
  readonly apiName: string
  readonly body: Buffer
}

/** Sends a request to a broker and returns what `read` makes of the response. */
export function sendRaw<T>(
  { connectionPool }: Pick<Broker, 'connectionPool'>,
  { body, ...request }: RawRequest,
  read: (bytes: Buffer) => T,
): Promise<T> {
  return connectionPool.send({
    request: { ...request, encode: async () => ({ buf: body, buffer: body }) },
    response: { decode: async (bytes) => bytes, parse: async (bytes) => read(bytes) },
  })
}

type CreateCluster = (options: object) => Cluster

/** Creates a cluster with the client's settings. It does not connect before `connect`. */
export function createCluster(kafka: KafkaClient): Cluster {
  return clusterFactory(kafka).create({ allowAutoTopicCreation: false })
}

/** A client like `kafka`, whose producers, consumers and admins use what `change` returns. */
export function withClusters(
  kafka: KafkaClient,
  change: (cluster: Cluster) => Cluster,
): KafkaClient {
  const { name, create } = clusterFactory(kafka)
  const value = (options: object) => change(create(options))
  return Object.create(kafka, { [name]: { value } }) as KafkaClient
}

function clusterFactory(kafka: KafkaClient): { name: symbol; create: CreateCluster } {
  const name = Object.getOwnPropertySymbols(kafka).find(
    ({ description }) => description === 'private:Kafka:createCluster',
  )
  const create = name && (kafka as unknown as Record<symbol, unknown>)[name]
  if (name === undefined || typeof create !== 'function')
    throw new Error('kafkajs has other internals than 2.2.4')
  return { name, create: create as CreateCluster }
}
