import { randomBytes } from 'node:crypto'
import { existsSync, readdirSync, readFileSync, renameSync, writeFileSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { z } from 'zod'
import { ServiceError } from '../../pipeline/domain/service-error.ts'
import { makeFolder } from '../../pipeline/runtime/make-folder.ts'

/** The servers that `npm run servers` can start. */
export const SERVER_NAMES = ['kafka', 'clickhouse', 'redis'] as const
/** One of `SERVER_NAMES`. */
export type ServerName = (typeof SERVER_NAMES)[number]
/** One process of a server: the server's name, or `<server>-<part>` in a cluster (`kafka-2`). */
export type NodeName = ServerName | `${ServerName}-${string}`

const DEFAULT_PORT_BASE = 29_000

const newSecret = () => randomBytes(18).toString('hex')
const newKey = () => randomBytes(32).toString('hex')
/** 16 random bytes as base64url. The id may not begin with a dash. */
const newClusterId = () => `A${randomBytes(16).toString('base64url').slice(1)}`

/** A role without a password gets a new one: the folder is older than the role. */
const RolePasswords = z.object({
  ingest: z.string().default(newSecret),
  workers: z.string().default(newSecret),
  api: z.string().default(newSecret),
  webhooks: z.string().default(newSecret),
})

const State = z.object({
  portBase: z.int().min(1024).max(65_000),
  /** Whether the servers run as clusters (`--cluster`). */
  cluster: z.boolean().default(false),
  /** The id that the nodes of Kafka are formatted with. */
  kafkaClusterId: z.string().default(newClusterId),
  secrets: z.object({
    clickhousePassword: z.string(),
    readerPassword: z.string().default(newSecret),
    redisPassword: z.string(),
    /** The AES-256 key, in hex, with which ClickHouse encrypts tables on disk. */
    clickhouseDiskKey: z.string().default(newKey),
    analystPassword: z.string().nullable(),
    /** Passwords of the ClickHouse users of the service's roles. */
    rolePasswords: RolePasswords.prefault({}),
  }),
  /** By `NodeName`. */
  processes: z.record(
    z.string(),
    z.object({ pid: z.int(), startTicks: z.int(), bootId: z.string() }),
  ),
})

/**
 * The servers of one data folder, stored in its `servers.json`. The file holds passwords, so only
 * its owner can read it.
 */
export type ServersState = z.infer<typeof State>

const stateFile = (dir: string) => join(dir, 'servers.json')

/**
 * Reads the state of a data folder; null if the folder is absent or empty. Throws
 * `invalid_argument` for any other folder.
 */
export function readState(dir: string): ServersState | null {
  try {
    if (!existsSync(stateFile(dir))) {
      if (existsSync(dir) && readdirSync(dir).some((name) => name !== 'lock'))
        throw new Error('it is not empty and no data folder of these servers')
      return null
    }
    return State.parse(JSON.parse(readFileSync(stateFile(dir), 'utf8')))
  } catch (cause) {
    const why = cause instanceof Error ? cause.message : ''
    throw new ServiceError('invalid_argument', `--data ${resolve(dir)}: ${why}`, { cause })
  }
}

/** A new state with new passwords and no processes. */
export function createState(portBase = DEFAULT_PORT_BASE, cluster = false): ServersState {
  return {
    portBase,
    cluster,
    kafkaClusterId: newClusterId(),
    secrets: {
      clickhousePassword: newSecret(),
      readerPassword: newSecret(),
      redisPassword: newSecret(),
      clickhouseDiskKey: newKey(),
      analystPassword: null,
      rolePasswords: RolePasswords.parse({}),
    },
    processes: {},
  }
}

/** Writes the state by renaming a draft, so that a reader sees the old or the new one. */
export function writeState(dir: string, state: ServersState): void {
  try {
    makeFolder(dir, 0o700)
    const draft = `${stateFile(dir)}.${process.pid}`
    writeFileSync(draft, `${JSON.stringify(state, null, 2)}\n`, { mode: 0o600 })
    renameSync(draft, stateFile(dir))
  } catch (cause) {
    const why = cause instanceof Error ? cause.message : ''
    throw new ServiceError(
      'invalid_argument',
      `--data ${resolve(dir)}: cannot be written: ${why}`,
      { cause },
    )
  }
}
