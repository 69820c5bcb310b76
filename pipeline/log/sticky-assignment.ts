/** What a member of a group says that it has when it joins again. */
export interface Claim {
  /** Generation of the group in which it had the partitions; 0 if it does not know. */
  readonly generation: number
  readonly partitions: readonly number[]
}

/** What a member claims that has nothing. */
export const NO_CLAIM: Claim = { generation: 0, partitions: [] }

/**
 * Shares partitions `0` to `partitions - 1` among the members of a group: each has as many as any
 * other, or one more. A partition stays with the member that claims it, and only as many move as
 * that balance demands (rule K23). If several claim a partition, the newest generation counts: a
 * member that was evicted claims what it had before. The same claims give the same shares, in
 * whatever order they come.
 */
export function assignSticky(
  partitions: number,
  claims: ReadonlyMap<string, Claim>,
): ReadonlyMap<string, readonly number[]> {
  const owners = new Map<number, string>()
  const oldestFirst = [...claims].sort(
    ([a, one], [b, other]) => one.generation - other.generation || compare(a, b),
  )
  for (const [member, claim] of oldestFirst)
    for (const partition of claim.partitions) owners.set(partition, member)
  const shares = new Map<string, number[]>([...claims.keys()].sort(compare).map((id) => [id, []]))
  for (let partition = 0; partition < partitions; partition += 1)
    shares.get(owners.get(partition) ?? '')?.push(partition)
  // Those with the most have one more in the end: so the fewest move.
  const members = [...shares.values()].sort((a, b) => b.length - a.length)
  const sizes = members.map((_, at) => Math.ceil((partitions - at) / members.length))
  const kept = new Set(members.flatMap((share, at) => share.slice(0, sizes[at])))
  const free = Array.from({ length: partitions }, (_, partition) => partition).filter(
    (partition) => !kept.has(partition),
  )
  for (const [at, share] of members.entries()) {
    share.length = Math.min(share.length, sizes[at] ?? 0)
    share.push(...free.splice(0, (sizes[at] ?? 0) - share.length))
  }
  return shares
}

/** By code units, which is the same in every process. */
function compare(a: string, b: string): number {
  return a < b ? -1 : a > b ? 1 : 0
}
