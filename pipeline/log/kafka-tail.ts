import { randomUUID } from 'node:crypto'
import type { ResumePoint, SlotMarker } from '../domain/slot.ts'
import { deleteGroup, type KafkaClient, type KafkaMessage, withAdmin } from './kafka-client.ts'
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
 * Returns where ingest continues. Reads each partition back to the checkpoint, for records of slots
 * that were not appended whole, and the first one to the newest final slot.
 */
export async function findResumePoint(
  kafka: KafkaClient,
  topic: string,
  firstStep = 256,
): Promise<ResumePoint> {
  const tails = await openTails(kafka, topic, firstStep)
  await readTails(kafka, topic, tails, ({ newest }) => newest !== null)
  const checkpoint = lowestOf(tails)
  const slot = checkpoint?.slot ?? -1
  const finalized = checkpoint?.finalized ?? null
  const [first] = tails
  const reaches = (tail: Tail) => {
    const wanted = tail === first ? (finalized ?? slot) : slot
    return Math.min(...tail.markers.keys()) <= wanted
  }
  const short = tails.filter((tail) => !reaches(tail))
  for (const tail of short) stepBack(tail)
  await readTails(kafka, topic, short, reaches)
  const partial = new Set(tails.flatMap(({ slots }) => [...slots].filter((of) => of > slot)))
  const unfinalized = [...(first?.markers.values() ?? [])]
    .filter((marker) => finalized !== null && marker.slot > finalized && marker.slot <= slot)
    .sort((a, b) => a.slot - b.slot)
  return { checkpoint, finalized, unfinalized, partial: [...partial].sort((a, b) => a - b) }
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
  /** Slots of the records read so far. */
  readonly slots: Set<number>
}

/** Goes on to the part before, four times as long. */
function stepBack(tail: Tail): void {
  const step = 4n * (tail.to - tail.from)
  tail.to = tail.from
  tail.from = max(tail.low, tail.to - step)
}

async function openTails(kafka: KafkaClient, topic: string, step: number): Promise<Tail[]> {
  const offsets = await withAdmin(kafka, (admin) => admin.fetchTopicOffsets(topic))
  return offsets.map(({ partition, low, high }) => ({
    partition,
    low: BigInt(low),
    from: max(BigInt(low), BigInt(high) - BigInt(step)),
    to: BigInt(high),
    newest: null,
    markers: new Map(),
    slots: new Set(),
  }))
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
        for (const message of batch.messages) readEntry(tail, message)
        if (BigInt(last.offset) + 1n < tail.to) return resolveOffset(last.offset)
        if (isDone(tail) || tail.from === tail.low) {
          unread.delete(batch.partition)
          pause()
          if (unread.size === 0) finish()
          return
        }
        stepBack(tail)
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

function readEntry(tail: Tail, { offset, value }: KafkaMessage): void {
  if (BigInt(offset) >= tail.to) return
  const decoded = decodeMessage(value)
  if (decoded.kind !== 'ok') return
  const { message } = decoded
  if (message.kind === 'record') tail.slots.add(message.record.slot)
  if (message.kind !== 'marker') return
  const { marker } = message
  tail.markers.set(marker.slot, marker)
  if (tail.newest === null || marker.slot >= tail.newest.slot) tail.newest = marker
}

const max = (a: bigint, b: bigint) => (a > b ? a : b)
