import { print } from '../../bench/kit/figures.ts'
import { readOptions } from '../../bench/kit/options.ts'
import { startServers } from '../../servers/servers.ts'
import { describeDifference } from '../../simulate/compare.ts'
import { type RunOptions, runSimulation } from '../../simulate/run.ts'
import { type DeployedPart, follows, type ScriptStep } from '../../simulate/script.ts'
import { describeSilences } from '../../simulate/silence.ts'
import { CLUSTER_PARTS, slotsOf } from '../../simulate/test-bed.ts'

/** Slots without a fault before the first step and after the last one. */
export const CALM = 80

/**
 * Runs the simulation with a script of a drill's own, and prints what it found. Returns whether
 * every table equals the slow reference, the follower got every trade once and credits add up.
 */
export async function runScript(
  options: Pick<RunOptions, 'seed' | 'serversDir' | 'isCluster'>,
  script: readonly ScriptStep[],
): Promise<boolean> {
  const hours = ((script.at(-1)?.at ?? 0) + CALM) / slotsOf(1)
  const result = await runSimulation({ ...options, hours, also: new Set(), script, tell: print })
  for (const fault of result.faults) print(`FAULT ${fault}`)
  for (const difference of result.differences.slice(0, 20)) print(describeDifference(difference))
  for (const line of describeSilences(result.silences)) print(line)
  const rows = Object.entries(result.rows).map(([table, count]) => `${table} ${count}`)
  print(`${rows.join(', ')}; ${result.differences.length} differences`)
  return result.faults.length + result.differences.length === 0
}

/**
 * Runs a script on a cluster: options `--data`, `--port-base`, `--seed`, and those of `defaults`.
 * The servers are left running.
 */
export async function runOnCluster<D extends Readonly<Record<string, number>>>(
  args: readonly string[],
  usage: string,
  defaults: D,
  scriptOf: (options: { readonly [name in keyof D]: number }) => readonly ScriptStep[],
): Promise<boolean> {
  const common = { data: '', 'port-base': 0, seed: 1 }
  const read = readOptions(args, usage, { ...defaults, ...common })
  if (read === null) return true
  const { data, 'port-base': portBase, seed } = read.options as typeof common // of these types
  if (data === '') throw new Error(usage)
  await startServers(data, { cluster: true, ...(portBase > 0 && { portBase }) })
  const script = [...firstRestarts(CLUSTER_PARTS), ...scriptOf(read.options as never)] // as above
  return runScript({ seed, serversDir: data, isCluster: true }, script)
}

/** The first restart looks back, so that the truth begins with the chain. */
export function firstRestarts(parts: readonly DeployedPart[]): ScriptStep[] {
  return parts.filter(follows).flatMap((part): ScriptStep[] => [
    { at: CALM / 2, act: 'kill', part, caughtUp: true },
    { at: CALM / 2, act: 'start', part },
  ])
}
