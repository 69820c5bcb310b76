import type { KafkaClient } from './kafka-client.ts'
import { type Broker, type ProducerIdentity, sendRaw, withClusters } from './kafka-internals.ts'

/**
 * Returns a client whose idempotent producers write as `name`, one after another (rule K14). Kafka
 * gives a name one producer id, and each connect a higher epoch. Once a partition has an entry of
 * an epoch, its broker refuses entries of lower ones (INVALID_PRODUCER_EPOCH), in whatever process
 * they were sent. The first connect takes the name from every other process; a later one succeeds
 * only if no other process has taken it since.
 *
 * The name is a transactional id, but no transaction is opened: an entry costs what it costs with
 * any idempotent producer. Source: KIP-98, KIP-360; ProducerStateManager of Kafka.
 */
export function createWriterClient(kafka: KafkaClient, name: string): KafkaClient {
  let identity: ProducerIdentity | null = null
  return withClusters(kafka, (cluster) => {
    cluster.findControllerBroker = async () => {
      const coordinator = await cluster.findGroupCoordinator({ groupId: name, coordinatorType: 1 })
      return {
        async initProducerId() {
          identity = await initProducerId(coordinator, name, identity)
          return identity
        },
      }
    }
    return cluster
  })
}

/** Whether a producer was refused because another process has taken its name. */
export function isFenced(error: unknown): boolean {
  for (let at: unknown = error; at instanceof Error; at = at.cause)
    if ('type' in at && at.type === 'INVALID_PRODUCER_EPOCH') return true
  return false
}

const INIT_PRODUCER_ID = 22
/** The first version that says which identity the caller has (KIP-360). */
const VERSION = 3
/** Of transactions, in milliseconds. There are none. */
const TRANSACTION_TIMEOUT_MS = 60_000

/** Error codes of the protocol, as kafkajs names them. The others end the attempt. */
const ERRORS: Readonly<Record<number, readonly [type: string, retriable: boolean]>> = {
  14: ['GROUP_LOAD_IN_PROGRESS', true],
  15: ['GROUP_COORDINATOR_NOT_AVAILABLE', true],
  16: ['NOT_COORDINATOR_FOR_GROUP', true],
  47: ['INVALID_PRODUCER_EPOCH', false],
  51: ['CONCURRENT_TRANSACTIONS', true],
  53: ['TRANSACTIONAL_ID_AUTHORIZATION_FAILED', false],
  90: ['INVALID_PRODUCER_EPOCH', false], // PRODUCER_FENCED
}

/** Asks for the next epoch. `known`: the caller's identity; null takes the name over. */
function initProducerId(
  coordinator: Broker,
  name: string,
  known: ProducerIdentity | null,
): Promise<ProducerIdentity> {
  const id = Buffer.from(name, 'utf8')
  const length = id.length + 1
  const rest = Buffer.alloc(4 + 8 + 2 + 1) // the last byte: no tagged fields
  rest.writeInt32BE(TRANSACTION_TIMEOUT_MS, 0)
  rest.writeBigInt64BE(BigInt(known?.producerId ?? -1), 4)
  rest.writeInt16BE(known?.producerEpoch ?? -1, 12)
  const body = Buffer.concat([
    Buffer.from([0]), // tagged fields of the header
    // A compact string: its length + 1 as an unsigned varint. A name has at most 300 bytes.
    Buffer.from(length < 128 ? [length] : [(length & 127) | 128, length >> 7]),
    id,
    rest,
  ])
  const request = { apiKey: INIT_PRODUCER_ID, apiVersion: VERSION, apiName: 'InitProducerId' }
  return sendRaw(coordinator, { ...request, body }, readIdentity)
}

/** Reads a response after its header's tagged fields: throttle_time_ms, error, id, epoch. */
function readIdentity(bytes: Buffer): ProducerIdentity {
  const code = bytes.readInt16BE(5)
  if (code !== 0) {
    const [type, retriable] = ERRORS[code] ?? [`error ${code}`, false]
    throw Object.assign(new Error(`InitProducerId: ${type}`), { type, retriable })
  }
  return { producerId: String(bytes.readBigInt64BE(7)), producerEpoch: bytes.readInt16BE(15) }
}
