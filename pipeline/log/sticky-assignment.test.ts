import test, { type ExecutionContext } from 'ava'
import fc from 'fast-check'
import { assignSticky, type Claim } from './sticky-assignment.ts'

const PARTITIONS = 11
const all = Array.from({ length: PARTITIONS }, (_, partition) => partition)

/** Claims of some members, who may claim the same, and partitions that do not exist. */
const anyClaims = fc
  .dictionary(
    fc.string({ minLength: 1, maxLength: 3 }),
    fc.record({
      generation: fc.nat(3),
      partitions: fc.uniqueArray(fc.integer({ min: -1, max: PARTITIONS + 1 })),
    }),
    { minKeys: 1, maxKeys: 13 },
  )
  .map((claims): ReadonlyMap<string, Claim> => new Map(Object.entries(claims)))

/** Claims of a group in which each partition has one owner at most. */
const soundClaims = fc
  .tuple(
    fc.integer({ min: 1, max: 6 }),
    fc.array(fc.nat(8), { minLength: PARTITIONS, maxLength: PARTITIONS }),
  )
  .map(
    ([members, owners]): ReadonlyMap<string, Claim> =>
      new Map(
        Array.from({ length: members }, (_, member) => [
          `member-${member}`,
          { generation: 7, partitions: all.filter((partition) => owners[partition] === member) },
        ]),
      ),
  )

const descending = (sizes: readonly number[]) => [...sizes].sort((a, b) => b - a)

/** Checks a property with a new seed, which it prints. */
function check(t: ExecutionContext, property: fc.IRawProperty<[ReadonlyMap<string, Claim>]>): void {
  const seed = Math.floor(Math.random() * 2 ** 31)
  t.log(`seed ${seed}`)
  fc.assert(property, { seed, numRuns: 500 })
}

test('every partition has one owner and shares differ by one at most, whatever is claimed in whatever order (rule K23)', (t) => {
  check(
    t,
    fc.property(anyClaims, (claims) => {
      const shares = assignSticky(PARTITIONS, claims)
      t.deepEqual([...shares.keys()].sort(), [...claims.keys()].sort())
      t.deepEqual(
        [...shares.values()].flat().sort((a, b) => a - b),
        all,
      )
      const sizes = descending([...shares.values()].map(({ length }) => length))
      t.true((sizes[0] ?? 0) - (sizes.at(-1) ?? 0) <= 1, `sizes ${sizes}`)
      t.deepEqual(assignSticky(PARTITIONS, new Map([...claims].reverse())), shares)
    }),
  )
})

test('as many partitions stay with their owners as balance allows (rule K23)', (t) => {
  check(
    t,
    fc.property(soundClaims, (claims) => {
      const shares = assignSticky(PARTITIONS, claims)
      const sizes = descending([...shares.values()].map(({ length }) => length))
      const owned = descending([...claims.values()].map(({ partitions }) => partitions.length))
      const stayed = [...claims].flatMap(([member, { partitions }]) =>
        partitions.filter((partition) => shares.get(member)?.includes(partition)),
      )
      const most = owned.reduce((sum, count, at) => sum + Math.min(count, sizes[at] ?? 0), 0)
      t.is(stayed.length, most)
    }),
  )
})

test('a member that joins gets its share, and nothing else moves; when it leaves, only its share does (rule K23)', (t) => {
  const of = (generation: number, ...partitions: number[]): Claim => ({ generation, partitions })
  const none = of(0)
  t.deepEqual(
    assignSticky(
      6,
      new Map([
        ['a', of(4, 0, 1, 2)],
        ['b', of(4, 3, 4, 5)],
        ['c', none],
      ]),
    ),
    new Map([
      ['a', [0, 1]],
      ['b', [3, 4]],
      ['c', [2, 5]],
    ]),
  )
  t.deepEqual(
    assignSticky(
      6,
      new Map([
        ['a', of(5, 0, 1)],
        ['b', of(5, 3, 4)],
      ]),
    ),
    new Map([
      ['a', [0, 1, 2]],
      ['b', [3, 4, 5]],
    ]),
  )
})

test('a member that was evicted does not take its former partitions from their new owner (rule K23)', (t) => {
  t.deepEqual(
    assignSticky(
      4,
      new Map([
        ['a', { generation: 3, partitions: [0, 1, 2, 3] }],
        ['b', { generation: 4, partitions: [0, 1] }],
      ]),
    ),
    new Map([
      ['a', [2, 3]],
      ['b', [0, 1]],
    ]),
  )
})
