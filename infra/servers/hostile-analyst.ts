import type { ClickHouseClient } from '@clickhouse/client'

/**
 * Queries that use as much of the server as they can: large states that spill to disk and that do
 * not, sorts, joins, endless responses.
 */
const HOSTILE = [
  'SELECT count() FROM (SELECT number AS k, groupArray(number) FROM numbers(900000000) GROUP BY k)',
  "SELECT max(x) FROM (SELECT toString(number) || 'abcdefghijklmnop' AS x FROM numbers(300000000) ORDER BY cityHash64(x) LIMIT 200000000, 10)",
  "SELECT count() FROM numbers(900000000) AS l JOIN (SELECT number AS k, repeat('x', 60) AS s FROM numbers(10000000)) AS r ON l.number % 10000000 = r.k WHERE NOT ignore(s)",
  'SELECT count() FROM numbers(1000000) AS a CROSS JOIN numbers(900000) AS b WHERE a.number * b.number % 7 = 3',
  'SELECT uniqExact(toString(number)) FROM numbers(1000000000)',
  "SELECT length(groupArray(repeat('x', 1000))) FROM numbers(100000000)",
  'SELECT max(s) FROM (SELECT sum(number) OVER (ORDER BY cityHash64(number)) AS s FROM numbers(100000000))',
  'SELECT DISTINCT repeat(toString(number), 20) FROM numbers(1000000000)',
]

/** The service's queries during an attack. */
export interface UnderAttack {
  /** Messages of the service's queries that failed. */
  readonly failures: readonly string[]
  /** Number of times `work` ran. */
  readonly rounds: number
  /** Hostile queries that ended, with or without an error. */
  readonly attacks: number
}

/**
 * Runs all hostile queries concurrently and repeatedly, and `work`, which queries as the service
 * does, for at least `forMs` milliseconds and `rounds` runs of `work`.
 */
export async function attackAsAnalyst(
  analyst: ClickHouseClient,
  work: () => Promise<unknown>,
  { forMs, rounds: minRounds }: { readonly forMs: number; readonly rounds: number },
): Promise<UnderAttack> {
  const over = new AbortController()
  let attacks = 0
  const attackers = HOSTILE.map(async (query) => {
    while (!over.signal.aborted) {
      await analyst.command({ query, abort_signal: over.signal }).catch(() => {})
      attacks += 1
    }
  })
  const failures: string[] = []
  let rounds = 0
  const end = performance.now() + forMs
  while (performance.now() < end || rounds < minRounds) {
    await work().catch((error: Error) => failures.push(error.message))
    rounds += 1
  }
  over.abort()
  await Promise.all(attackers)
  return { failures, rounds, attacks }
}
