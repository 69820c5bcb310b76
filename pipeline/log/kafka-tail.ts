import { randomUUID } from 'node:crypto'
import type { SlotMarker, Unfinalized } from '../domain/slot.ts'
import { deleteGroup, type KafkaClient, type KafkaMessage } from './kafka-client.ts'
import { decodeMessage } from './record.ts'

/**
 * Returns the newest marker that every partition of a topic has; null if one has none. Reads each
 * partition from its end, in steps that grow fourfold, until it finds a marker: a long tail without
 * markers is read once. Slots are appended in order with a marker on each partition, so the lowest
 * of the newest markers is on all of them. Rejects when the server is lost.
 */
export async function readCheckpoint(
  kafka: KafkaClient,
  topic: string,
  firstStep = 256,
): Promise<SlotMarker | null> {
  const tails = await openTails(kafka, topic, firstStep)
  await readTails(kafka, topic, tails, ({ newest }) => newest !== null)
  return lowestOf(tails)
}

/**
 * Returns the sealed slots that are not known to be final at the checkpoint. Reads the first
 * partition back to the newest final slot.
 */
export async function readUnfinalized(
  kafka: KafkaClient,
  topic: string,
  firstStep = 256,
): Promise<Unfinalized> {
  const tails = await openTails(kafka, topic, firstStep)
  const [first] = tails
  await readTails(kafka, topic, tails, (tail) => {
    if (tail !== first || tail.newest === null) return tail.newest !== null
    // The checkpoint is not above the newest marker here, but it may have been final up to less.
    const wanted = lowestOf(tails)?.finalized ?? tail.newest.finalized
    return wanted === null || Math.min(...tail.markers.keys()) <= wanted
  })
  const checkpoint = lowestOf(tails)
  const finalized = checkpoint?.finalized ?? null
  if (!checkpoint || !first || finalized === null) return { finalized: null, markers: [] }
  const markers = [...first.markers.values()]
    .filter(({ slot }) => slot > finalized && slot <= checkpoint.slot)
    .sort((a, b) => a.slot - b.slot)
  return { finalized, markers }
}

/** The lowest of the newest markers; null if a partition has none. */
function lowestOf(tails: readonly Tail[]): SlotMarker | null {
  const newest = tails.map((tail) => tail.newest)
  return newest.reduce(
    (lowest, marker) => (lowest && marker && marker.slot < lowest.slot ? marker : marker && lowest),
    newest[0] ?? null,
  )
}

/** Part of a partition to read: offsets `from` to `to` (exclusive). */
interface Tail {
  readonly partition: number
  readonly low: bigint
  from: bigint
  to: bigint
  newest: SlotMarker | null
  /** The markers read so far, by slot. */
  readonly markers: Map<number, SlotMarker>
}

async function openTails(kafka: KafkaClient, topic: string, step: number): Promise<Tail[]> {
  const admin = kafka.admin()
  await admin.connect()
  try {
    return (await admin.fetchTopicOffsets(topic)).map(({ partition, low, high }) => ({
      partition,
      low: BigInt(low),
      from: max(BigInt(low), BigInt(high) - BigInt(step)),
      to: BigInt(high),
      newest: null,
      markers: new Map(),
    }))
  } finally {
    await admin.disconnect()
  }
}

/** Reads each partition back from its end until `isDone`, or to its beginning. */
async function readTails(
  kafka: KafkaClient,
  topic: string,
  all: readonly Tail[],
  isDone: (tail: Tail) => boolean,
): Promise<void> {
  const tails = all.filter((tail) => tail.from < tail.to)
  if (tails.length === 0) return
  const groupId = `${topic}.checkpoint-${randomUUID()}`
  const consumer = kafka.consumer({
    groupId,
    minBytes: 1,
    maxWaitTimeInMs: 100,
    allowAutoTopicCreation: false,
    retry: {
      retries: 5,
      initialRetryTime: 50,
      maxRetryTime: 1000,
      restartOnFailure: async () => false,
    },
  })
  const unread = new Map(tails.map((tail) => [tail.partition, tail]))
  const seek = ({ partition, from }: Tail) =>
    consumer.seek({ topic, partition, offset: String(from) })
  consumer.on(consumer.events.GROUP_JOIN, () => {
    for (const tail of unread.values()) seek(tail)
  })
  const crashed = new Promise<Error>((resolve) => {
    consumer.on(consumer.events.CRASH, ({ payload }) => resolve(payload.error))
  })
  let finish: () => void = () => {}
  const finished = new Promise<null>((resolve) => {
    finish = () => resolve(null)
  })
  try {
    await consumer.connect()
    await consumer.subscribe({ topic, fromBeginning: true })
    await consumer.run({
      autoCommit: false,
      eachBatchAutoResolve: false,
      partitionsConsumedConcurrently: tails.length,
      eachBatch: async ({ batch, resolveOffset, pause }) => {
        const tail = unread.get(batch.partition)
        if (!tail) return void pause()
        const last = batch.messages.at(-1)
        if (!last) return
        for (const message of batch.messages) readMarker(tail, message)
        if (BigInt(last.offset) + 1n < tail.to) return resolveOffset(last.offset)
        if (isDone(tail) || tail.from === tail.low) {
          unread.delete(batch.partition)
          pause()
          if (unread.size === 0) finish()
          return
        }
        const step = 4n * (tail.to - tail.from)
        tail.to = tail.from
        tail.from = max(tail.low, tail.to - step)
        seek(tail)
      },
    })
    const error = await Promise.race([crashed, finished])
    if (error) throw error
  } finally {
    await consumer.disconnect().catch(() => {})
    await deleteGroup(kafka, groupId)
  }
}

function readMarker(tail: Tail, { offset, value }: KafkaMessage): void {
  if (BigInt(offset) >= tail.to) return
  const decoded = decodeMessage(value)
  if (decoded.kind !== 'ok' || decoded.message.kind !== 'marker') return
  const { marker } = decoded.message
  tail.markers.set(marker.slot, marker)
  if (tail.newest === null || marker.slot >= tail.newest.slot) tail.newest = marker
}

const max = (a: bigint, b: bigint) => (a > b ? a : b)
