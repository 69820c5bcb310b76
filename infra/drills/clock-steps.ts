import { CLOCK_STEPS, type ScriptStep } from '../simulate/script.ts'
import { CLUSTER_PARTS } from '../simulate/test-bed.ts'
import { CALM, runOnCluster } from './kit/run-script.ts'

const USAGE = `npm run -s drill -- clock-steps --data DIR [options]

Runs two processes of each role on a cluster. Steps the clock of each process (libfaketime) by an
hour and by ten days, forwards and back, and sets it right again after four seconds. Exits with 1
unless every table equals the slow reference, the follower got every trade once and credits add up.

  --data DIR      folder of a cluster (infra/servers); left running
  --port-base N   first port (29000, or what the folder was last used with)
  --seed N        of the market (1)`

/** Slots of 100 ms for which a clock is wrong. */
const WRONG = 40

/** Runs the drill. Returns whether nothing was lost or doubled. */
export function run(args: readonly string[]): Promise<boolean> {
  const steps = CLUSTER_PARTS.flatMap((part) => CLOCK_STEPS.map((hours) => ({ part, hours })))
  return runOnCluster(args, USAGE, {}, () =>
    steps.flatMap(({ part, hours }, n): ScriptStep[] => {
      const at = (2 + n) * CALM
      return [
        { at, act: 'clock', part, hours },
        { at: at + WRONG, act: 'clock', part, hours: 0 },
      ]
    }),
  )
}
