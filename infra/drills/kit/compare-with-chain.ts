import { compareTables, type Difference, describeDifference } from '../../simulate/compare.ts'
import { compareCoverage, compareMints } from '../../simulate/compare-facts.ts'
import { compareKept } from '../../simulate/compare-kept.ts'
import { type TestBed, TRACKED_WALLETS } from '../../simulate/test-bed.ts'
import type { TrueChain } from '../../simulate/true-chain.ts'

/**
 * Compares every table with the slow reference. Returns the first twenty differences, described,
 * and the number of compared rows. Differences for which `isExpected` is true
 * do not count.
 */
export async function compareWithChain(
  { deployed: { query }, simulator: { market } }: Pick<TestBed, 'deployed' | 'simulator'>,
  chain: TrueChain,
  isExpected: (difference: Difference) => boolean = () => false,
): Promise<{ readonly faults: readonly string[]; readonly rows: number }> {
  const tables = await compareTables(query, chain, TRACKED_WALLETS)
  const facts = [
    await compareKept(query, chain),
    await compareMints(query, chain, market),
    await compareCoverage(query, chain, market, TRACKED_WALLETS),
  ]
  const differences = [tables, ...facts]
    .flatMap((part) => part.differences)
    .filter((difference) => !isExpected(difference))
  const faults = differences.slice(0, 20).map(describeDifference)
  if (differences.length > 20) faults.push(`${differences.length} rows differ in all`)
  const counts = [...Object.values(tables.rows), ...facts.map((part) => part.rows)]
  return { faults, rows: counts.reduce((sum, count) => sum + count, 0) }
}
