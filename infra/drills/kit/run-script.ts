import { print } from '../../bench/kit/figures.ts'
import { describeDifference } from '../../simulate/compare.ts'
import { type RunOptions, runSimulation } from '../../simulate/run.ts'
import type { ScriptStep } from '../../simulate/script.ts'
import { slotsOf } from '../../simulate/test-bed.ts'

/** Slots that the market runs for after the last step. */
const CALM = 80

/**
 * Runs the simulation with a script of a drill's own, and prints what it found. Returns whether
 * every table equals the slow reference, the follower got no trade twice and credits add up.
 */
export async function runScript(
  options: Pick<RunOptions, 'seed' | 'serversDir' | 'isCluster'>,
  script: readonly ScriptStep[],
): Promise<boolean> {
  const hours = ((script.at(-1)?.at ?? 0) + CALM) / slotsOf(1)
  const result = await runSimulation({ ...options, hours, also: new Set(), script, tell: print })
  for (const fault of result.faults) print(`FAULT ${fault}`)
  for (const difference of result.differences.slice(0, 20)) print(describeDifference(difference))
  const rows = Object.entries(result.rows).map(([table, count]) => `${table} ${count}`)
  print(`${rows.join(', ')}; ${result.differences.length} differences`)
  return result.faults.length + result.differences.length === 0
}
