import { existsSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { readRedisUrl } from '../../api/redis-url.ts'
import { ensureFakeTime } from '../servers/install.ts'
import { RedisSentinel } from '../servers/redis-sentinel.ts'
import { brokersInSync } from './brokers-in-sync.ts'
import type { ClusterFaults } from './deployed.ts'
import type { FlakyRelay } from './flaky-relay.ts'
import { makeNextBuild } from './next-build.ts'

/**
 * Returns what makes the faults of a cluster. `env`: as its servers start with. `relays`: the ways
 * to the Yellowstone servers. libfaketime gives each process its own clock, but not other monotonic
 * time: timers keep their pace.
 */
export async function clusterFaults(
  dir: string,
  env: Readonly<Record<string, string>>,
  relays: readonly FlakyRelay[],
): Promise<ClusterFaults> {
  const library = await ensureFakeTime()
  const next = makeNextBuild()
  const clocks = mkdtempSync(join(tmpdir(), 'clocks-'))
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
    clockOf(part) {
      const file = join(clocks, part)
      if (!existsSync(file)) writeFileSync(file, '+0')
      return {
        LD_PRELOAD: library,
        FAKETIME_TIMESTAMP_FILE: file,
        FAKETIME_CACHE_DURATION: '1',
        FAKETIME_DONT_FAKE_MONOTONIC: '1',
      }
    },
    setClock(part, hours) {
      const seconds = hours * 3600
      writeFileSync(join(clocks, part), seconds < 0 ? `${seconds}` : `+${seconds}`)
    },
    disturb: (endpoint, how) => relays[endpoint]?.fail(how),
    brokersInSync: () => brokersInSync(env.KAFKA_BROKERS ?? ''),
    nextRoot: next.root,
    close() {
      rmSync(clocks, { recursive: true, force: true })
      next.remove()
    },
  }
}
