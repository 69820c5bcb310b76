import type { Admin } from './kafka-client.ts'

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

/** Returns the Kafka name of a consumer group. Groups of two topics never share a name. */
export function groupIdOf(topic: string, group: string): string {
  return `${topic}.${group}`
}
