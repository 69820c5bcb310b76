import type { StoredPosition } from '../../store/tables/progress.ts'

/** Fencing token of each assigned partition (rule K15). */
export type Fences = ReadonlyMap<number, number>

/**
 * Returns the fencing token of the owner of a partition in a generation of the group (rule K15). It
 * is above the tokens of all earlier owners, the last of which stored its own in `stored`.
 *
 * Within a group, tokens differ as generations do. A group that was deleted starts at generation 1
 * again, and its tokens continue after the stored one. A log in memory has generation 0 and one
 * owner.
 *
 * @example fenceOf(7, { fence: 5, generation: 5 }) // 7
 * @example fenceOf(1, { fence: 5, generation: 5 }) // 6
 */
export function fenceOf(
  generation: number,
  stored: Pick<StoredPosition, 'fence' | 'generation'> = { fence: 0, generation: 0 },
): number {
  const passed = generation - stored.generation
  return stored.fence + (generation > 0 && passed > 0 ? passed : generation)
}

/**
 * Returns the partitions that this process kept from one assignment to the next (rule K23): those
 * whose token is the former one plus 1. Nobody else can have written what follows from them in
 * between: each generation of the group raises the token of a partition, and so does each owner
 * before it writes. With a log in memory tokens stay the same, and nothing is kept.
 */
export function keptPartitions(before: Fences, now: Fences): ReadonlySet<number> {
  const kept = [...now].filter(([partition, fence]) => before.get(partition) === fence - 1)
  return new Set(kept.map(([partition]) => partition))
}
