import test from 'ava'
import fc from 'fast-check'
import kafkajs, { type ProducerBatch } from 'kafkajs'
import { createLogger } from '../runtime/logger.ts'
import type { OutgoingEntry } from './append-queue.ts'
import type { KafkaClient } from './kafka-client.ts'
import { createPatientProducer, openProducer } from './kafka-producer.ts'

/**
 * A client whose producer answers for these partitions, call by call, and then for all. It fails
 * where there is an error. The first `refusals` attempts to connect fail.
 */
function clientOf(answers: (readonly number[] | Error)[], refusals = 0) {
  const sent: string[][] = []
  const compressions = new Set<number | undefined>()
  let producers = 0
  const producer = {
    events: {},
    on() {},
    async connect() {
      if (producers++ < refusals) throw new Error('no broker')
    },
    async disconnect() {},
    async sendBatch({ topicMessages, compression }: ProducerBatch) {
      compressions.add(compression)
      const messages = topicMessages?.[0]?.messages ?? []
      sent.push(messages.map(({ value }) => String(value)))
      const answer = answers.shift() ?? [0, 1, 2]
      if (answer instanceof Error) throw answer
      return answer.map((partition) => ({ topicName: 'topic', partition, errorCode: 0 }))
    },
  }
  const client = { producer: () => producer } as unknown as KafkaClient // all that is used of it
  return { client, sent, compressions, producers: () => producers }
}

const entry = (partition: number, value: string): OutgoingEntry => ({ partition, key: null, value })
const ENTRIES = [entry(0, 'a'), entry(1, 'b'), entry(2, 'c'), entry(1, 'd')]

test('entries that the client left out, although it resolved, are sent again in their order', async (t) => {
  const { client, sent, producers } = clientOf([[0], [2]])
  const producer = await openProducer(client, 'topic', createLogger('silent'))
  await producer.send(ENTRIES)
  await producer.send([entry(1, 'e')])
  t.deepEqual(sent, [['a', 'b', 'c', 'd'], ['b', 'c', 'd'], ['b', 'd'], ['e']])
  t.is(producers(), 1)
})

test('a producer that failed is replaced, and sends what was not acknowledged', async (t) => {
  const { client, sent, producers } = clientOf([[0], new Error('no broker'), [1, 2]])
  const producer = await openProducer(client, 'topic', createLogger('silent'))
  await producer.send(ENTRIES)
  t.deepEqual(sent, [
    ['a', 'b', 'c', 'd'],
    ['b', 'c', 'd'],
    ['b', 'c', 'd'],
  ])
  t.is(producers(), 2)
})

test('a producer that connects with its first append waits for a broker, as later appends do', async (t) => {
  const { client, sent, producers } = clientOf([], 2)
  const producer = createPatientProducer(client, 'topic', createLogger('silent'))
  t.is(producers(), 0)
  await producer.send(ENTRIES)
  await producer.send([entry(1, 'e')])
  t.deepEqual(sent, [['a', 'b', 'c', 'd'], ['e']])
  t.is(producers(), 3)
  await producer.close()
  await t.throwsAsync(producer.send(ENTRIES), { message: 'the log is closed' })
})

test('batches are compressed with zstd, which takes them back', async (t) => {
  const { client, compressions } = clientOf([])
  const producer = await openProducer(client, 'topic', createLogger('silent'))
  await producer.send(ENTRIES)
  t.deepEqual([...compressions], [kafkajs.CompressionTypes.ZSTD])
  const zstd = kafkajs.CompressionCodecs[kafkajs.CompressionTypes.ZSTD]()
  await fc.assert(
    fc.asyncProperty(fc.uint8Array({ maxLength: 100_000 }), async (bytes) => {
      const compressed = await zstd.compress({ buffer: Buffer.from(bytes) })
      t.deepEqual(await zstd.decompress(compressed), Buffer.from(bytes))
    }),
  )
  const repeated = Buffer.alloc(512 * 1024, 'a marker ')
  t.true((await zstd.compress({ buffer: repeated })).length < 1000)
})
