import { type Admin, type KafkaClient, withAdmin } from './kafka-client.ts'
import { readTopicId } from './kafka-topic-id.ts'
import type { LogExtent, OffsetRange } from './log.ts'

/** Returns `EventLog.extent` of a topic. Rejects when no broker answers. */
export async function readExtent(
  kafka: KafkaClient,
  topic: string,
  times: ReadonlyMap<number, number>,
): Promise<LogExtent> {
  const id = await readTopicId(kafka, topic)
  return withAdmin(kafka, async (admin) => {
    const partitions = new Map<number, OffsetRange>()
    for (const { partition, low, high } of await admin.fetchTopicOffsets(topic))
      partitions.set(partition, { low: BigInt(low), end: BigInt(high) })
    // The client can ask of one time only.
    for (const time of new Set(times.values()))
      for (const { partition, offset } of await admin.fetchTopicOffsetsByTimestamp(
        topic,
        time + 1,
      )) {
        const range = partitions.get(partition)
        if (range !== undefined && times.get(partition) === time)
          partitions.set(partition, { ...range, later: BigInt(offset) })
      }
    return { id, partitions }
  })
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
