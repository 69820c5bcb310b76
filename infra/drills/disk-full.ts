import { execFileSync } from 'node:child_process'
import { chmodSync, mkdirSync, mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { readOptions } from '../bench/kit/options.ts'
import { startServers, stopServers } from '../servers/servers.ts'
import { SERVER_NAMES } from '../servers/state.ts'
import type { ScriptStep } from '../simulate/script.ts'
import { runScript } from './kit/run-script.ts'

const USAGE = `npm run -s drill -- disk-full [options]

Starts Kafka, ClickHouse and Redis, each on a small disk of its own (tmpfs, so this needs root), and
the service on them. Fills each disk in turn under load, frees it, and starts the server again if it
ended. Exits with 1 unless every table equals the slow reference, the follower got no trade twice
and credits add up.

  --seed N        of the market (1)
  --slots N       slots for which a disk stays full; a second has up to 70 (800)
  --mb N          size of each disk (700)
  --port-base N   first port of the servers (26200)`

/** Slots between two faults. */
const CALM = 80

/** Runs the drill. Returns whether nothing was lost or doubled. */
export async function run(args: readonly string[]): Promise<boolean> {
  const read = readOptions(args, USAGE, { seed: 1, slots: 800, mb: 700, 'port-base': 26_200 })
  if (read === null) return true
  const { seed, slots, mb, 'port-base': portBase } = read.options
  const dir = mkdtempSync(join(tmpdir(), 'disk-full-'))
  chmodSync(dir, 0o711) // the servers' users can enter it
  const data = join(dir, 'servers')
  const disks = SERVER_NAMES.map((name) => join(data, name, 'data'))
  try {
    await startServers(data, { portBase })
    await stopServers(data)
    for (const disk of disks) {
      rmSync(disk, { recursive: true })
      mkdirSync(disk)
      execFileSync('mount', ['-t', 'tmpfs', '-o', `size=${mb}m`, 'tmpfs', disk])
    }
    await startServers(data)
    const script = scriptOf(slots)
    return await runScript({ seed, serversDir: data, isCluster: false }, script)
  } finally {
    await stopServers(data)
    for (const disk of disks) unmount(disk)
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
  return [
    // The first restart looks back, so that the truth begins with the chain.
    { at: CALM / 2, act: 'kill', part: 'ingest', caughtUp: true },
    { at: CALM / 2, act: 'start', part: 'ingest' },
    ...faults,
    { at: last + CALM, act: 'cut', caughtUp: true },
  ]
}

function unmount(disk: string): void {
  try {
    execFileSync('umount', [disk], { stdio: 'ignore' })
  } catch {
    // It was not mounted.
  }
}
