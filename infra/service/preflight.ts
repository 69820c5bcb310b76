import { once } from 'node:events'
import { constants } from 'node:fs'
import { access, mkdtemp, rmdir, stat } from 'node:fs/promises'
import { createServer } from 'node:net'
import { dirname, join, resolve } from 'node:path'
import { redisAddresses } from '../../api/redis-url.ts'
import { ServiceError } from '../../pipeline/domain/service-error.ts'
import { isServed } from '../operator/socket.ts'
import { checkFiles } from './check-files.ts'
import { checkServers, type ServerTarget, serverTargetOf } from './check-servers.ts'
import { ownsData, type ServiceConfig } from './config.ts'

/**
 * Checks the files, servers, ports and data folder that the configuration names, before anything is
 * opened or written. Rejects with a ServiceError that names the key at fault (rules J1, J2). Only
 * the start is this strict: a running service waits for a server that goes away.
 */
export async function preflight(config: ServiceConfig): Promise<void> {
  const { api, roles, metricsPort, dataDir } = config
  await checkFiles(config)
  await checkServers(serversOf(config))
  if (roles.has('api')) await portIsFree('PORT', api.HOST, api.PORT)
  if (metricsPort !== 0) await portIsFree('METRICS_PORT', api.HOST, metricsPort)
  if (ownsData(config)) await folderIsFree(dataDir)
}

function serversOf({ roles, source, log, store, meter }: ServiceConfig): ServerTarget[] {
  const targets: ServerTarget[] = []
  if (source.kind === 'yellowstone' && roles.has('ingest')) {
    targets.push(
      {
        key: 'YELLOWSTONE_ENDPOINT',
        addresses: source.servers.flatMap(
          ({ endpoint }) => serverTargetOf('', new URL(endpoint)).addresses,
        ),
      },
      serverTargetOf('SOLANA_RPC_URL', source.rpcUrl),
    )
  }
  if (log.kind === 'kafka') targets.push({ key: 'KAFKA_BROKERS', addresses: log.brokers })
  if (store.kind === 'clickhouse')
    targets.push(serverTargetOf('CLICKHOUSE_URL', store.url, ...(store.otherUrls ?? [])))
  if (meter.kind === 'redis')
    targets.push({ key: 'REDIS_URL', addresses: redisAddresses(meter.url) })
  return targets
}

/** Explanations of error codes of listen(2) and getaddrinfo(3). */
const LISTEN_FAULTS: Readonly<Record<string, string>> = {
  EADDRNOTAVAIL: 'this machine has no such address',
  ENOTFOUND: 'the host name does not exist',
  EAI_AGAIN: 'the host name cannot be resolved now',
  EACCES: 'this user lacks the permission',
}

async function portIsFree(key: string, host: string, port: number): Promise<void> {
  const server = createServer()
  try {
    server.listen(port, host)
    await once(server, 'listening')
  } catch (cause) {
    const code = cause instanceof Error && 'code' in cause ? String(cause.code) : ''
    const why =
      code === 'EADDRINUSE'
        ? `${key}: port ${port} is taken by another process; set another, or 0`
        : `HOST, ${key}: cannot listen on ${host}:${port}: ${LISTEN_FAULTS[code] ?? code}`
    throw new ServiceError('bad_config', why, { cause })
  } finally {
    server.close()
  }
}

async function folderIsFree(dataDir: string): Promise<void> {
  if (await isServed(dataDir)) {
    throw new ServiceError(
      'bad_config',
      'DATA_DIR: another process owns the data; stop it, or set another folder',
    )
  }
  const existing = await nearest(resolve(dataDir))
  const usable = await access(existing.path, constants.W_OK | constants.X_OK).then(
    () => existing.isFolder,
    () => false,
  )
  if (usable && (await canHold(existing.path))) return
  const what = usable
    ? 'does not accept new folders'
    : existing.isFolder
      ? 'is not writable'
      : 'is not a folder'
  throw new ServiceError(
    'bad_config',
    `DATA_DIR: ${resolve(dataDir)} cannot be used: ${existing.path} ${what}`,
  )
}

/**
 * Whether a folder can be created in `path`, tried with one that is removed again. Some folders
 * claim to be writable and are not (`/proc`, a full disk).
 */
async function canHold(path: string): Promise<boolean> {
  try {
    await rmdir(await mkdtemp(join(path, '.tracked-wallets-')))
    return true
  } catch {
    return false
  }
}

/** The path itself if it exists, else its nearest ancestor that does. */
async function nearest(path: string): Promise<{ path: string; isFolder: boolean }> {
  for (let at = path; ; at = dirname(at)) {
    const found = await stat(at).catch(() => null)
    if (found !== null) return { path: at, isFolder: found.isDirectory() }
    if (at === dirname(at)) return { path: at, isFolder: false }
  }
}
