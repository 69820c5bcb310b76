import { type Admin, type KafkaClient, withAdmin } from './kafka-client.ts'
import { readTopicId } from './kafka-topic-id.ts'
import type { LogExtent } from './log.ts'

/** Returns the id of a topic and the offsets that it has. Rejects when no broker answers. */
export async function readExtent(kafka: KafkaClient, topic: string): Promise<LogExtent> {
  const id = await readTopicId(kafka, topic)
  const offsets = await withAdmin(kafka, (admin) => admin.fetchTopicOffsets(topic))
  const partitions = offsets.map(
    ({ partition, low, high }) => [partition, { low: BigInt(low), end: BigInt(high) }] as const,
  )
  return { id, partitions: new Map(partitions) }
}

/** Returns the next offset of each partition of a topic. */
export async function readEnds(admin: Admin, topic: string): Promise<ReadonlyMap<number, bigint>> {
  const offsets = await admin.fetchTopicOffsets(topic)
  return new Map(offsets.map(({ partition, high }) => [partition, BigInt(high)]))
}

/** Whether a consumer group has committed all of a topic below `ends`. */
export async function hasCommitted(
  admin: Admin,
  of: { topic: string; group: string; ends: ReadonlyMap<number, bigint> },
): Promise<boolean> {
  const { topic, group, ends } = of
  const [found] = await admin.fetchOffsets({ groupId: groupIdOf(topic, group), topics: [topic] })
  const committed = new Map(
    found?.partitions.map(({ partition, offset }) => [partition, BigInt(offset)]),
  )
  return [...ends].every(
    ([partition, end]) => end === 0n || (committed.get(partition) ?? -1n) >= end,
  )
}

/** Whether a consumer group has members. A group that does not exist has none. */
export async function hasMembers(admin: Admin, topic: string, group: string): Promise<boolean> {
  const { groups } = await admin.describeGroups([groupIdOf(topic, group)])
  return groups.some(({ members }) => members.length > 0)
}

/** Returns the Kafka name of a consumer group. Groups of two topics never share a name. */
export function groupIdOf(topic: string, group: string): string {
  return `${topic}.${group}`
}
