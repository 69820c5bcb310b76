import { ServiceError } from '../../pipeline/domain/service-error.ts'
import { clickhouse, clickhouseCluster } from './clickhouse.ts'
import { kafka, kafkaCluster } from './kafka.ts'
import { redis } from './redis.ts'
import { redisCluster } from './redis-cluster.ts'
import type { Server } from './server.ts'
import type { NodeName, ServersState } from './state.ts'

const SINGLE: readonly Server[] = [kafka, clickhouse, redis]
const CLUSTER: readonly Server[] = [...kafkaCluster, ...clickhouseCluster, ...redisCluster]

/** Returns the servers of a data folder; of a cluster, every node. */
export function serversOf(state: ServersState): readonly Server[] {
  return state.cluster ? CLUSTER : SINGLE
}

/**
 * Returns one node, all nodes of a server, or everything. Throws `invalid_argument` if the folder
 * has no such node.
 */
export function chosenOf(state: ServersState, only: NodeName | undefined): readonly Server[] {
  const all = serversOf(state)
  if (only === undefined) return all
  const chosen = all.filter(({ name, kind }) => only === name || only === kind)
  if (chosen.length > 0) return chosen
  const names = new Set(all.flatMap(({ name, kind }) => [kind, name]))
  throw new ServiceError('invalid_argument', `--only: one of ${[...names].join(', ')}`)
}
