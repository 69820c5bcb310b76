import { chownSync, existsSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { ensureCommand } from './install.ts'
import { askPort } from './redis.ts'
import type { Server, ServerSettings, StartSettings } from './server.ts'

/** The name by which the Sentinels know the master. */
const MASTER = 'mymaster'
/** Distances of the ports of the two servers, and of the Sentinels, from the first port. */
const SERVERS = [3, 10] as const
const SENTINELS = [11, 12, 13] as const

/**
 * A Redis master with one replica, and three Sentinels, of which two must agree to fail over. A
 * server without a replica refuses writes, so after a failover the former master has to return.
 */
export const redisCluster: readonly Server[] = [
  ...SERVERS.map((offset, index) => node(`redis-${index + 1}`, `Redis ${index + 1}`, offset, [])),
  ...SENTINELS.map((offset, index) =>
    node(`redis-sentinel-${index + 1}`, `Redis Sentinel ${index + 1}`, offset, ['--sentinel']),
  ),
]

function node(
  name: Server['name'],
  title: string,
  offset: number,
  flags: readonly string[],
): Server {
  const isSentinel = flags.length > 0
  return {
    name,
    kind: 'redis',
    title,
    ports: (base) => ({ port: base + offset }),
    async prepare(settings) {
      const file = await ensureCommand('redis-server', 'redis-server')
      const port = settings.portBase + offset
      const lines = isSentinel ? sentinelLines(settings) : serverLines(settings, offset)
      const args = [writeOnce(settings, [`port ${port}`, ...lines]), ...flags]
      if (isSentinel) return { file, args }
      const master = await currentMaster(settings)
      if (master === null || master === port) return { file, args }
      // A former master that was killed does not know that it is a replica now.
      return { file, args: [...args, '--replicaof', '127.0.0.1', String(master)] }
    },
    async probe({ portBase, secrets }) {
      const section = isSentinel ? 'sentinel' : 'replication'
      const question = `AUTH ${secrets.redisPassword}\r\nINFO ${section}\r\n`
      const answer = await askPort(portBase + offset, question, '\r\n\r\n')
      if (!(isSentinel ? FINDS_REPLICA : HAS_DATA).test(answer)) throw new Error(answer)
    },
    env: redisUrl,
  }
}

/**
 * A replica is of use once it has the master's data, and a master once it has a replica: without
 * one it refuses writes.
 */
const HAS_DATA = /^(min_slaves_good_slaves:[1-9][0-9]*|master_link_status:up)\r$/m
/**
 * A Sentinel can fail over once it knows the replica and the others. It asks the master for
 * replicas every 10 s.
 */
const FINDS_REPLICA = new RegExp(`,slaves=[1-9][0-9]*,sentinels=${SENTINELS.length}\\r$`, 'm')

/** The port of the master, from the first Sentinel that answers; null: none does. */
async function currentMaster({ portBase, secrets }: ServerSettings): Promise<number | null> {
  const question = `AUTH ${secrets.redisPassword}\r\nSENTINEL GET-MASTER-ADDR-BY-NAME ${MASTER}\r\nPING\r\n`
  for (const offset of SENTINELS) {
    const answer = await askPort(portBase + offset, question, '+PONG\r\n').catch(() => '')
    const port = /^([0-9]+)\r\n\+PONG/m.exec(answer)?.[1]
    if (port !== undefined) return Number(port)
  }
  return null
}

function redisUrl({ portBase, secrets }: ServerSettings) {
  const hosts = SENTINELS.map((offset) => `127.0.0.1:${portBase + offset}`).join(',')
  const password = secrets.redisPassword
  return {
    REDIS_URL: `redis+sentinel://:${password}@${hosts}/${MASTER}?sentinel_password=${password}`,
  }
}

function serverLines({ portBase, secrets }: StartSettings, offset: number): string[] {
  return [
    `requirepass ${secrets.redisPassword}`,
    `masterauth ${secrets.redisPassword}`,
    'appendonly yes',
    'save ""',
    // Without a replica that confirmed in the last three seconds, writes are refused.
    'min-replicas-to-write 1',
    'min-replicas-max-lag 3',
    'repl-diskless-sync-delay 0',
    ...(offset === SERVERS[0] ? [] : [`replicaof 127.0.0.1 ${portBase + SERVERS[0]}`]),
  ]
}

function sentinelLines({ portBase, secrets }: StartSettings): string[] {
  return [
    `requirepass ${secrets.redisPassword}`,
    `sentinel sentinel-pass ${secrets.redisPassword}`,
    `sentinel monitor ${MASTER} 127.0.0.1 ${portBase + SERVERS[0]} 2`,
    `sentinel auth-pass ${MASTER} ${secrets.redisPassword}`,
    `sentinel down-after-milliseconds ${MASTER} 2000`,
    `sentinel failover-timeout ${MASTER} 3000`,
  ]
}

/**
 * Writes the configuration of a new node and returns its path. The file is the node's own: there
 * it keeps who is master. A folder that moved to other ports starts as a new one, with its data.
 */
function writeOnce({ dir, user }: StartSettings, [port = '', ...lines]: string[]): string {
  const data = join(dir, 'data')
  const file = join(data, 'redis.conf')
  if (existsSync(file) && readFileSync(file, 'utf8').split('\n').includes(port)) return file
  const text = [port, 'bind 127.0.0.1', `dir ${JSON.stringify(data)}`, ...lines].join('\n')
  writeFileSync(file, `${text}\n`, { mode: 0o600 })
  if (user) chownSync(file, user.uid, user.gid)
  return file
}
