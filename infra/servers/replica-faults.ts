import type { Fault } from './fault-proxy.ts'

/** A fault of a replica that the proxy can make, with its name. */
export interface ReplicaFault {
  readonly title: string
  /** `lag`: it does not get the writes of the other replica. */
  readonly fault: Fault | 'lag'
}

/** How a replica of ClickHouse fails, for drills. */
export const REPLICA_FAULTS: readonly ReplicaFault[] = [
  { title: 'server gone', fault: { how: 'cut' } },
  { title: 'server hangs', fault: { how: 'hang' } },
  { title: 'read-only (242)', fault: { on: 'writes', how: 'refuse', code: 242 } },
  { title: 'too many parts (252)', fault: { on: 'writes', how: 'refuse', code: 252 } },
  { title: 'quorum not met (286)', fault: { on: 'writes', how: 'refuse', code: 286 } },
  {
    title: 'unknown status (319)',
    fault: { on: 'writes', how: 'apply_and_refuse', code: 319, times: 5 },
  },
  { title: 'memory limit (241)', fault: { how: 'refuse', code: 241 } },
  {
    title: 'time limit (159)',
    fault: { on: 'writes', how: 'apply_and_refuse', code: 159, times: 5 },
  },
  {
    title: 'connection cut after the insert',
    fault: { on: 'writes', how: 'apply_and_cut', times: 5 },
  },
  { title: 'replica lags', fault: 'lag' },
]
