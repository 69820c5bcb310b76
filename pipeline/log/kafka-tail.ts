import { randomUUID } from 'node:crypto'
import {
  type AppendedBlock,
  chainTo,
  checkpointSlot,
  isLater,
  type PartialSlot,
  type ResumePoint,
  type Rewind,
  type SlotMarker,
} from '../domain/slot.ts'
import { deleteGroup, type KafkaClient, type KafkaMessage, withAdmin } from './kafka-client.ts'
import { createConsumer } from './kafka-stop.ts'
import { decodeMessage } from './record.ts'
import { type FormatStop, newerFormat } from './stopped-partitions.ts'

/** Entries of each partition that are read first. */
const FIRST_STEP = 256

/**
 * Returns the newest marker that every partition of a topic has; null if one has none. Reads each
 * partition from its end, in steps that grow fourfold, until it finds a marker: a long tail without
 * markers is read once. Slots are appended in order with a marker on each partition, so the lowest
 * of the newest markers is on all of them. A partition is not read past an entry of a newer format:
 * then the checkpoint is null, and `newer` says where. Rejects when the server is lost.
 */
export async function readCheckpoint(
  kafka: KafkaClient,
  topic: string,
  firstStep = FIRST_STEP,
): Promise<{ readonly checkpoint: SlotMarker | null; readonly newer: FormatStop | null }> {
  const tails = await openTails(kafka, topic, firstStep)
  await readTails(kafka, topic, tails, hasMarker)
  const newer = newerIn(tails)
  return { checkpoint: newer === null ? lowestOf(tails) : null, newer }
}

/**
 * Returns where ingest continues. Reads each partition back to the checkpoint, for what was
 * appended of slots after it, and the first one to the newest final slot. Rejects with
 * `newer_format` if it finds an entry that a newer version of the service wrote.
 */
export async function findResumePoint(
  kafka: KafkaClient,
  topic: string,
  firstStep = FIRST_STEP,
): Promise<ResumePoint> {
  const tails = await openTails(kafka, topic, firstStep)
  await readTails(kafka, topic, tails, hasMarker)
  refuseNewer(tails)
  const checkpoint = lowestOf(tails)
  const slot = checkpoint?.slot ?? -1
  const finalized = checkpoint?.finalized ?? null
  const [first] = tails
  /** Whether a marker and those before it need no comparison with the finalized chain. */
  const isSettled = (marker: SlotMarker) =>
    finalized === null ? marker.blockId === null : marker.slot <= finalized
  const reaches = (tail: Tail) =>
    markersOf(tail).some((marker) => marker.slot <= slot && (tail !== first || isSettled(marker)))
  const short = tails.filter((tail) => !reaches(tail))
  for (const tail of short) stepBack(tail)
  await readTails(kafka, topic, short, reaches)
  refuseNewer(tails)
  const sealed = first === undefined ? [] : markersOf(first).filter((one) => one.slot < slot)
  const chain = checkpoint === null ? [] : chainTo(checkpoint, sealed)
  const settled = chain.filter((marker) => isSettled(marker)).length
  return {
    checkpoint,
    finalized,
    unfinalized: chain.slice(Math.max(0, settled - 1)),
    withdrawn: withdrawnByAll(tails, chain),
    partial: partialSlots(tails, slot),
    attempt: 1 + Math.max(0, ...tails.map(({ rewind }) => attemptAt(rewind, slot))),
  }
}

/**
 * Returns what was appended of the newest blocks up to a checkpoint (rule K2). Reads each partition
 * back until it has `slots` before the checkpoint, or `MOST_ENTRIES`. A restart appends again what
 * it compared of hundreds of slots, so few slots may be many entries.
 */
export async function findAppended(
  kafka: KafkaClient,
  topic: string,
  checkpoint: SlotMarker,
  slots: number,
): Promise<AppendedBlock[]> {
  const tails = await openTails(kafka, topic, FIRST_STEP)
  const last = checkpoint.slot - slots
  const ends = new Map(tails.map((tail) => [tail, tail.to]))
  await readTails(
    kafka,
    topic,
    tails,
    (tail) =>
      [...tail.markers.keys()].some((slot) => slot <= last) ||
      (ends.get(tail) ?? 0n) - tail.from >= MOST_ENTRIES,
  )
  const [first] = tails
  const before = first === undefined ? [] : markersOf(first)
  const sealed = before.filter(({ slot }) => slot < checkpoint.slot)
  return appendedBlocks(tails, chainTo(checkpoint, sealed))
}

const MOST_ENTRIES = 20_000

/** The blocks of these markers of which every entry was read, and that never left the chain. */
function appendedBlocks(tails: readonly Tail[], chain: readonly SlotMarker[]): AppendedBlock[] {
  const after = Math.max(...tails.map(completeAfter))
  return chain
    .filter(({ slot }) => slot > after && !tails.some(({ withdrawn }) => withdrawn.has(slot)))
    .map(({ slot, blockTime, blockId }) => {
      const all = tails.flatMap((tail) => signaturesOf(tail, slot))
      return { slot, blockTime, blockId, signatures: [...new Set(all)].sort() }
    })
}

/** The signatures of a slot that no rewind voids. */
function signaturesOf({ signatures, rewound }: Tail, slot: number): string[] {
  const from = rewound.get(slot) ?? -1n
  return [...(signatures.get(slot) ?? [])].flatMap(([signature, offset]) =>
    offset > from ? [signature] : [],
  )
}

/** A slot after which every entry of a partition was read: records come before their marker. */
function completeAfter(tail: Tail): number {
  return tail.from === tail.low ? -1 : Math.min(...tail.markers.keys())
}

function refuseNewer(tails: readonly Tail[]): void {
  const newer = newerIn(tails)
  if (newer !== null) throw newerFormat(newer)
}

function newerIn(tails: readonly Tail[]): FormatStop | null {
  return tails.find(({ newer }) => newer !== null)?.newer ?? null
}

/** The slots of these markers that each partition withdraws, as far back as it was read. */
function withdrawnByAll(tails: readonly Tail[], chain: readonly SlotMarker[]): Set<number> {
  const isWithdrawn = ({ withdrawn, rewound }: Tail, slot: number) =>
    (withdrawn.get(slot) ?? -1n) > (rewound.get(slot) ?? -1n)
  const slots = chain.map(({ slot }) => slot)
  return new Set(slots.filter((slot) => tails.every((tail) => isWithdrawn(tail, slot))))
}

/** How often ingest went back to this checkpoint, as far as a rewind tells. */
function attemptAt(rewind: Rewind | null, checkpoint: number): number {
  return rewind !== null && checkpointSlot(rewind) === checkpoint ? rewind.attempt : 0
}

/** What the partitions have of slots after the checkpoint, in order. Each block is in it once. */
function partialSlots(tails: readonly Tail[], checkpoint: number): PartialSlot[] {
  const found = new Map<string, PartialSlot>()
  const isMarked = new Set<number>()
  for (const marker of tails.flatMap(markersOf)) {
    isMarked.add(marker.slot)
    found.set(`${marker.slot}/${marker.blockId}`, { slot: marker.slot, marker })
  }
  for (const slot of tails.flatMap(({ records }) => [...records.keys()]))
    if (!isMarked.has(slot)) found.set(`${slot}`, { slot, marker: null })
  return [...found.values()].filter(({ slot }) => slot > checkpoint).sort((a, b) => a.slot - b.slot)
}

/** The lowest of the newest markers; null if a partition has none. */
function lowestOf(tails: readonly Tail[]): SlotMarker | null {
  const newest = tails.map(newestOf)
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
  /** By slot: the newest marker read so far, with its offset. */
  readonly markers: Map<number, { readonly marker: SlotMarker; readonly offset: bigint }>
  /** By slot: the offset of the newest record read so far. */
  readonly records: Map<number, bigint>
  /** By slot: the signatures of its records read so far, each with its newest offset. */
  readonly signatures: Map<number, Map<string, bigint>>
  /** By slot: the offset of the newest rewind read so far, which voids what is below it. */
  readonly rewound: Map<number, bigint>
  /** By slot: the offset of the newest other withdrawal read so far. */
  readonly withdrawn: Map<number, bigint>
  /** The newest rewind read so far; null for none. */
  rewind: Rewind | null
  /** An entry of a newer format that was read; null for none. The partition is not read on. */
  newer: FormatStop | null
}

function markersOf(tail: Tail): SlotMarker[] {
  return [...tail.markers.values()].map(({ marker }) => marker)
}

function hasMarker(tail: Tail): boolean {
  return tail.markers.size > 0
}

/** The marker of the highest slot; null for none. */
function newestOf(tail: Tail): SlotMarker | null {
  return markersOf(tail).reduce<SlotMarker | null>(
    (newest, marker) => (newest !== null && newest.slot > marker.slot ? newest : marker),
    null,
  )
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
    markers: new Map(),
    records: new Map(),
    signatures: new Map(),
    rewound: new Map(),
    withdrawn: new Map(),
    rewind: null,
    newer: null,
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
  const consumer = createConsumer(kafka, {
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
        if (tail.newer === null && BigInt(last.offset) + 1n < tail.to)
          return resolveOffset(last.offset)
        if (tail.newer !== null || isDone(tail) || tail.from === tail.low) {
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

/** Parts are read from the newest to the oldest, each in order. */
function readEntry(tail: Tail, { offset: text, value }: KafkaMessage): void {
  const offset = BigInt(text)
  if (offset >= tail.to) return
  const decoded = decodeMessage(value)
  if (decoded.kind === 'newer')
    tail.newer = { partition: tail.partition, offset, version: decoded.version }
  if (decoded.kind !== 'ok') return
  const { message } = decoded
  const isNewest = (known: bigint | undefined) => known === undefined || offset > known
  if (message.kind === 'withdrawal') {
    const { slot, rewind } = message.withdrawal
    const offsets = rewind === null ? tail.withdrawn : tail.rewound
    if (!isNewest(offsets.get(slot))) return
    offsets.set(slot, offset)
    if (rewind === null) return
    if (isNewest(tail.markers.get(slot)?.offset)) tail.markers.delete(slot)
    if (isNewest(tail.records.get(slot))) tail.records.delete(slot)
    if (isLater(rewind, tail.rewind)) tail.rewind = rewind
  } else if (message.kind === 'record') {
    const { slot } = message.record
    if ('signature' in message.record) {
      const { signature } = message.record
      const signatures = tail.signatures.get(slot) ?? new Map<string, bigint>()
      tail.signatures.set(slot, signatures)
      if (isNewest(signatures.get(signature))) signatures.set(signature, offset)
    }
    if (isNewest(tail.rewound.get(slot)) && isNewest(tail.records.get(slot)))
      tail.records.set(slot, offset)
  } else if (message.kind === 'marker') {
    const { marker } = message
    const { slot } = marker
    if (isNewest(tail.rewound.get(slot)) && isNewest(tail.markers.get(slot)?.offset))
      tail.markers.set(slot, { marker, offset })
  }
}

const max = (a: bigint, b: bigint) => (a > b ? a : b)
