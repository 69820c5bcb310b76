import { readRedisUrl } from '../../api/redis-url.ts'
import { RedisSentinel } from '../drills/kit/redis-sentinel.ts'
import type { ClusterFaults } from './deployed.ts'

/** Returns what makes the faults of a cluster. `env`: as its servers start with. */
export function clusterFaults(dir: string, env: Readonly<Record<string, string>>): ClusterFaults {
  const redis = readRedisUrl(env.REDIS_URL ?? '')
  if (redis === undefined || redis instanceof URL) throw new Error(`${dir} has no cluster`)
  const sentinel = new RedisSentinel(dir, redis)
  const [, hosts = ''] = /@([^/]+)/.exec(env.CLICKHOUSE_URL ?? '') ?? []
  async function ask(replica: number, path: string, body: string): Promise<void> {
    const response = await fetch(`http://${hosts.split(',')[replica]}${path}`, {
      method: 'POST',
      body,
    })
    if (!response.ok) throw new Error(`${path}: ${response.status}`)
  }
  return {
    begin: (replica, fault) =>
      fault === 'lag'
        ? ask(replica, '/.lag', 'true')
        : ask(replica, '/.fault', JSON.stringify(fault)),
    end: (replica, fault) => ask(replica, fault === 'lag' ? '/.lag' : '/.fault', ''),
    failOver: () => sentinel.failOver(),
  }
}
