import type { ScriptStep } from '../simulate/script.ts'
import { CALM, runOnCluster } from './kit/run-script.ts'

const USAGE = `npm run -s drill -- api-kill --data DIR [options]

Runs two processes of each role on a cluster, with a follower of the feed that goes to the other API
when one is gone. Kills each API (SIGKILL) in turn, and starts it again after two seconds. Exits with
1 unless every table equals the slow reference, the follower got every trade once and credits add up.

  --data DIR      folder of a cluster (infra/servers); left running
  --port-base N   first port (29000, or what the folder was last used with)
  --seed N        of the market (1)
  --kills N       how often (20)`

/** Slots of 100 ms for which an API is away. */
const AWAY = 20

/** Runs the drill. Returns whether nothing was lost or doubled. */
export function run(args: readonly string[]): Promise<boolean> {
  return runOnCluster(args, USAGE, { kills: 20 }, ({ kills }) =>
    Array.from({ length: kills }, (_, n): ScriptStep[] => {
      const part = n % 2 === 0 ? 'api' : 'api-2'
      const at = (2 + n) * CALM
      return [
        { at, act: 'kill', part },
        { at: at + AWAY, act: 'start', part },
      ]
    }).flat(),
  )
}
