import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { readOptions } from '../bench/kit/options.ts'
import { startServers, stopServers } from '../servers/servers.ts'
import { mountSmallDisks } from '../servers/small-disks.ts'
import { SERVER_NAMES } from '../servers/state.ts'
import type { ScriptStep } from '../simulate/script.ts'
import { CALM, firstRestarts, runScript } from './kit/run-script.ts'

const USAGE = `npm run -s drill -- disk-full [options]

Starts Kafka, ClickHouse and Redis, each on a small disk of its own (tmpfs, so this needs root), and
the service on them. Fills each disk in turn under load, frees it, and starts the server again if it
ended. Exits with 1 unless every table equals the slow reference, the follower got every trade once
and credits add up.

  --seed N        of the market (1)
  --slots N       slots for which a disk stays full; a second has up to 70 (800)
  --mb N          size of each disk (700)
  --port-base N   first port of the servers (26200)`

/** Runs the drill. Returns whether nothing was lost or doubled. */
export async function run(args: readonly string[]): Promise<boolean> {
  const read = readOptions(args, USAGE, { seed: 1, slots: 800, mb: 700, 'port-base': 26_200 })
  if (read === null) return true
  const { seed, slots, mb, 'port-base': portBase } = read.options
  const dir = mkdtempSync(join(tmpdir(), 'disk-full-'))
  const unmount = mountSmallDisks(dir, { cluster: false, portBase, mb })
  try {
    await startServers(dir)
    const script = scriptOf(slots)
    return await runScript({ seed, serversDir: dir, isCluster: false }, script)
  } finally {
    await stopServers(dir)
    unmount()
    rmSync(dir, { recursive: true, force: true })
  }
}

/** Fills each disk once the service has caught up after the one before. */
function scriptOf(slots: number): ScriptStep[] {
  const faults = SERVER_NAMES.flatMap((server, place): ScriptStep[] => {
    const at = 2 * CALM + place * (slots + CALM)
    return [
      { at, act: 'fill', server, caughtUp: true },
      { at: at + slots, act: 'free', server },
    ]
  })
  const last = faults.at(-1)?.at ?? 0
  return [...firstRestarts(['ingest']), ...faults, { at: last + CALM, act: 'cut', caughtUp: true }]
}
