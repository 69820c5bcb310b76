import type { Fault } from '../servers/fault-proxy.ts'
import type { ReplicaNumber, ScriptStep } from '../simulate/script.ts'
import { CALM, runOnCluster } from './kit/run-script.ts'

const USAGE = `npm run -s drill -- worker-suspended --data DIR [options]

Runs two processes of each role on a cluster. In each round every ClickHouse server hangs, or is
gone, while a worker holds rows that it cannot write. Then that worker is suspended until the other
one has its partitions and ClickHouse is back, and goes on. Exits with 1 unless every table equals
the slow reference, the follower got every trade once and credits add up.

  --data DIR      folder of a cluster (infra/servers); left running
  --port-base N   first port (29000, or what the folder was last used with)
  --seed N        of the market (1)
  --rounds N      how often (4)
  --slots N       slots from the suspension until the worker goes on, 100 ms each (200)`

const REPLICAS: readonly ReplicaNumber[] = [0, 1]
/** Slots of 100 ms from the outage to the suspension. */
const HELD = 15

/** Runs the drill. Returns whether nothing was lost or doubled. */
export function run(args: readonly string[]): Promise<boolean> {
  const defaults = { rounds: 4, slots: 200 }
  return runOnCluster(args, USAGE, defaults, ({ rounds, slots }) => scriptOf(rounds, slots))
}

function scriptOf(rounds: number, slots: number): ScriptStep[] {
  return Array.from({ length: rounds }, (_, round): ScriptStep[] => {
    const at = 2 * CALM + round * (HELD + slots + CALM)
    const isHang = round % 2 === 0
    const fault: Fault = isHang ? { how: 'hang' } : { how: 'cut' }
    const outage = { title: isHang ? 'server hangs' : 'server gone', fault }
    const part = round % 4 < 2 ? 'workers' : 'workers-2'
    const backAt = at + HELD + slots
    return [
      ...REPLICAS.map(
        (replica, place): ScriptStep => ({
          at,
          act: 'fault',
          replica,
          fault: outage,
          caughtUp: place === 0,
        }),
      ),
      { at: at + HELD, act: 'suspend', part },
      ...REPLICAS.map(
        (replica): ScriptStep => ({ at: backAt - HELD, act: 'mend', replica, fault: outage }),
      ),
      { at: backAt, act: 'start', part },
      { at: backAt, act: 'cut', caughtUp: true },
    ]
  }).flat()
}
