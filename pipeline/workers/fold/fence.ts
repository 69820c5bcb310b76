import type { StoredPosition } from '../../store/tables/progress.ts'

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
