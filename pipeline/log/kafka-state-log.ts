import { ServiceError } from '../domain/service-error.ts'
import { type AppendQueue, createAppendQueue } from './append-queue.ts'
import { type ConsumerDeps, SupervisedConsumer, startAmong } from './kafka-consumer.ts'
import { createPatientProducer, type PatientProducer } from './kafka-producer.ts'
import type { Consumer } from './log.ts'
import { decodeState, encodeState } from './state-entry.ts'
import type { StateEntry, StateHandler, StateLog, StateMessage } from './state-log.ts'

/** Brokers accept a megabyte for a partition and request by default. */
const MAX_REQUEST_BYTES = 512 * 1024

/** The log of states on Kafka. Its topic exists. */
export class KafkaStateLog implements StateLog {
  readonly partitions: number
  readonly #deps: Omit<ConsumerDeps<StateEntry>, 'read'>
  readonly #consumers = new Set<Consumer>()
  readonly #queue: AppendQueue
  /** Connects with the first append: readers have no connection. */
  readonly #producer: PatientProducer
  #isClosed = false

  constructor(deps: Omit<ConsumerDeps<StateEntry>, 'read'>) {
    this.#deps = deps
    this.partitions = deps.partitions
    this.#producer = createPatientProducer(deps.kafka, deps.topic, deps.logger)
    this.#queue = createAppendQueue((entries) => this.#producer.send(entries), MAX_REQUEST_BYTES)
  }

  append(messages: ReadonlyMap<number, StateMessage>): Promise<void> {
    const entries = [...messages].flatMap(([partition, message]) => encodeState(partition, message))
    return this.#queue.append(entries)
  }

  async follow(handler: StateHandler): Promise<Consumer> {
    if (this.#isClosed) throw new ServiceError('closed', 'the log is closed')
    const deps = { ...this.#deps, read: decodeState }
    const options = { mode: 'follow', sinceMs: null } as const
    return startAmong(this.#consumers, new SupervisedConsumer(deps, options, handler))
  }

  async close(): Promise<void> {
    this.#isClosed = true
    this.#queue.end(new ServiceError('closed', 'the log is closed'))
    await Promise.all([...this.#consumers].map((consumer) => consumer.close()))
    await this.#producer.close()
  }
}
