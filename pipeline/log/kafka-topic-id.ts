import type { KafkaClient } from './kafka-client.ts'
import { createCluster, sendRaw } from './kafka-internals.ts'

/**
 * Returns the id that Kafka gave a topic when it was created: a UUID as 32 hex digits (KIP-516). A
 * topic that was deleted and created again has another id. Empty if the broker knows none (before
 * Kafka 2.8). Rejects when no broker answers.
 *
 * kafkajs 2.2.4 speaks Metadata up to version 6, which has no id; this request is version 10.
 */
export async function readTopicId(kafka: KafkaClient, topic: string): Promise<string> {
  const cluster = createCluster(kafka)
  try {
    await cluster.connect()
    await cluster.refreshMetadata() // learns the brokers
    if ((cluster.brokerPool.versions?.[METADATA]?.maxVersion ?? 0) < VERSION) return ''
    const body = encodeRequest(topic)
    const request = { apiKey: METADATA, apiVersion: VERSION, apiName: 'Metadata', body }
    const id = await cluster.brokerPool.withBroker(({ broker }) => sendRaw(broker, request, readId))
    if (id === null) throw new Error('no broker told the id of the topic')
    return /^0*$/.test(id) ? '' : id
  } finally {
    await cluster.disconnect()
  }
}

const METADATA = 3
/** The first version whose response has the id. */
const VERSION = 10

/**
 * The rest of the request header (version 2: no tagged fields) and the body, from the protocol
 * guide of Apache Kafka. Lengths of compact arrays and strings are unsigned varints of length + 1;
 * a topic's name has at most 249 bytes, so two bytes hold any of them.
 */
function encodeRequest(topic: string): Buffer {
  const name = Buffer.from(topic, 'utf8')
  const length = name.length + 1
  return Buffer.concat([
    Buffer.from([0]), // tagged fields of the header
    Buffer.from([2]), // topics: one
    Buffer.alloc(16), // topic_id: asked by name
    Buffer.from(length < 128 ? [length] : [(length & 127) | 128, length >> 7]),
    name,
    Buffer.from([0]), // tagged fields of the topic
    // allow_auto_topic_creation, include_*_authorized_operations (two), tagged fields
    Buffer.from([0, 0, 0, 0]),
  ])
}

/** Reads the id of the first topic from a response. Throws on an error code. */
function readId(bytes: Buffer): string {
  const at = new Reader(bytes)
  at.skip(1 + 4) // tagged fields of the header, throttle_time_ms
  for (let brokers = at.varint() - 1; brokers > 0; brokers--) {
    at.skip(4)
    at.skipString()
    at.skip(4)
    at.skipString()
    at.skip(1)
  }
  at.skipString() // cluster_id
  at.skip(4) // controller_id
  if (at.varint() !== 2) throw new Error('Metadata answered other topics than asked')
  const code = at.take(2).readInt16BE()
  if (code !== 0) throw new Error(`Metadata answered error ${code}`)
  at.skipString()
  return at.take(16).toString('hex')
}

class Reader {
  readonly #bytes: Buffer
  #at = 0

  constructor(bytes: Buffer) {
    this.#bytes = bytes
  }

  take(length: number): Buffer {
    const taken = this.#bytes.subarray(this.#at, this.#at + length)
    if (taken.length < length) throw new Error('Metadata answered too little')
    this.#at += length
    return taken
  }

  skip(length: number): void {
    this.take(length)
  }

  varint(): number {
    let value = 0
    for (let shift = 0; shift < 28; shift += 7) {
      const byte = this.take(1).readUInt8()
      value |= (byte & 127) << shift
      if (byte < 128) break
    }
    return value
  }

  /** A compact string; a null one has length 0. */
  skipString(): void {
    this.skip(Math.max(0, this.varint() - 1))
  }
}
