import { percentiles, print, printHead, printRow } from '../bench/kit/figures.ts'
import { readOptions } from '../bench/kit/options.ts'
import { runRollingUpgrade } from './kit/rolling-upgrade.ts'

const USAGE = `npm run -s drill -- upgrade --data DIR [options]

Runs two processes of each role over the simulator, with a follower on each API and a customer who
calls. Makes a build that could be the next release: a new decoder, log format, snapshot format,
column and table. Replaces every process by it, one after the other, then all of them back, then
forwards again, and has ingest append the new log format.
Exits with 1 unless every table equals the slow reference, each follower got every trade once and
in order, every call was answered by one of the APIs, and credits add up.

With --from, one process of each role of an older release runs first. All of them are stopped, the
schema is applied, and this version goes on and decodes again what was stored. Nobody calls then.

  --data DIR     folder of servers (infra/servers); left running
  --from DIR     folder of a checkout of the older release, with npm ci and npm run build done
  --seed N       of the market and its trouble (1)
  --slots N      slots between two replacements (20)`

/** Runs the drill. Returns whether nothing was lost or doubled. */
export async function run(args: readonly string[]): Promise<boolean> {
  const read = readOptions(args, USAGE, { data: '', from: '', seed: 1, slots: 20 })
  if (read === null) return true
  const { data, from, seed, slots } = read.options
  if (data === '') throw new Error(USAGE)
  const startedAt = Date.now()
  const tell = (line: string) => print(`${((Date.now() - startedAt) / 1000).toFixed(1)} s  ${line}`)
  const found = await runRollingUpgrade({ data, seed, slots, from: from || null, tell })
  for (const fault of found.faults) tell(`FAULT ${fault}`)
  printHead('replaced', 'times', 'p50 ms until ready', 'max ms')
  for (const [role, times] of found.replacedMs)
    printRow(role, times.length, ...percentiles(times, 0.5, 1).map(Math.round))
  const trades = found.trades.join(' and ')
  print(
    `${found.rows} rows, ${trades} trades sent, ${found.calls} calls, ${found.faults.length} faults`,
  )
  return found.faults.length === 0
}
