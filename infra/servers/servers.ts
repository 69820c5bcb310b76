import { spawn } from 'node:child_process'
import { chmodSync, closeSync, openSync, readFileSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import { ServiceError } from '../../pipeline/domain/service-error.ts'
import { makeFolder } from '../../pipeline/runtime/make-folder.ts'
import { withFolderLock } from './folder-lock.ts'
import { chosenOf, serversOf } from './nodes.ts'
import { giveTo, makeOwnFolder, ownUserOf } from './own-user.ts'
import { refuseTakenPorts } from './ports.ts'
import {
  identifyProcess,
  isRunning,
  type ProcessIdentity,
  signalProcess,
} from './process-identity.ts'
import type { Server, ServerSettings } from './server.ts'
import { createState, type NodeName, readState, type ServersState, writeState } from './state.ts'

const READY_WITHIN_MS = 180_000
const STOPPED_WITHIN_MS = 20_000
/** How long a command waits for another one that works on the same folder. */
const LOCK_WAIT_MS = 2 * READY_WITHIN_MS

/** Options of `startServers`. */
export interface StartOptions {
  /** The first port; default 29000, or the last one of the folder. */
  readonly portBase?: number
  /** Makes a new folder one of clusters. A folder of single servers is refused. */
  readonly cluster?: boolean
  /** Starts only this server, or this node of a cluster; default: all servers. */
  readonly only?: NodeName
  /**
   * Password of the read-only user of analysts (rule J9). By default the last one of the folder; a
   * new folder has no such user.
   */
  readonly analystPassword?: string
}

/**
 * Starts the servers of a data folder that do not run yet. Resolves with their environment
 * variables once all answer. Rejects with a ServiceError if a port is taken, the folder is foreign,
 * or a server does not come up; servers that this call started are then stopped again.
 */
export async function startServers(dir: string, options: StartOptions = {}) {
  return withFolderLock(dir, LOCK_WAIT_MS, async () => {
    const cluster = options.cluster ?? false
    const state = readState(dir) ?? createState(options.portBase, cluster)
    if (cluster && !state.cluster)
      throw new ServiceError(
        'invalid_argument',
        `--cluster: ${resolve(dir)} has single servers; choose another folder`,
      )
    movePorts(dir, state, options.portBase)
    const chosen = chosenOf(state, options.only)
    if (options.analystPassword && options.analystPassword !== state.secrets.analystPassword) {
      state.secrets.analystPassword = options.analystPassword
      const servers = serversOf(state).filter(({ kind }) => kind === 'clickhouse')
      await Promise.all(servers.map((server) => stopServer(server, dir, state)))
    }
    const missing = chosen.filter((server) => !runs(server, state))
    await refuseTakenPorts(missing, state.portBase)
    writeState(dir, state)
    const started = await Promise.allSettled(
      missing.map((server) => startServer(server, dir, state)),
    )
    const failed = started.find((result) => result.status === 'rejected')
    if (failed) {
      await Promise.all(missing.map((server) => stopServer(server, dir, state)))
      throw failed.reason
    }
    await Promise.all(chosen.map((server) => waitUntilReady(server, dir, state)))
    return Object.assign(
      {},
      ...chosen.map((server) => server.env(settingsOf(server, dir, state))),
    ) as Record<string, string> // merged from records of strings
  })
}

/** Stops the servers of a data folder cleanly. A folder without servers is not an error. */
export async function stopServers(dir: string, options: { only?: NodeName } = {}) {
  await change(dir, options.only, stopServer)
}

/** How a server is. */
export interface ServerStatus {
  readonly name: NodeName
  /** `answers`; `silent`: it runs and does not answer; `down`: it does not run. */
  readonly state: 'answers' | 'silent' | 'down'
  /** Number of its process; null: none. */
  readonly pid: number | null
  readonly ports: Readonly<Record<string, number>>
  /** The file with its output. */
  readonly log: string
}

/** Returns how the servers of a data folder are; none for a folder without servers. */
export async function serversStatus(
  dir: string,
  options: { readonly only?: NodeName } = {},
): Promise<readonly ServerStatus[]> {
  const state = readState(dir)
  if (state === null) return []
  return Promise.all(
    chosenOf(state, options.only).map(async (server) => {
      const settings = settingsOf(server, dir, state)
      const isUp = runs(server, state)
      const answers = isUp && (await server.probe(settings).then(TRUE, FALSE))
      return {
        name: server.name,
        state: answers ? 'answers' : isUp ? 'silent' : 'down',
        pid: isUp ? (state.processes[server.name]?.pid ?? null) : null,
        ports: server.ports(state.portBase),
        log: logFile(settings),
      }
    }),
  )
}

const TRUE = () => true
const FALSE = () => false

/** Ends servers with SIGKILL, for tests of crashes. */
export async function killServers(dir: string, options: { only?: NodeName } = {}) {
  await change(dir, options.only, async (server, _dir, state) => {
    const identity = state.processes[server.name]
    if (identity && signalProcess(identity, 'SIGKILL')) await exited(identity, STOPPED_WITHIN_MS)
  })
}

async function change(
  dir: string,
  only: NodeName | undefined,
  apply: (server: Server, dir: string, state: ServersState) => Promise<void>,
): Promise<void> {
  if (readState(dir) === null) return
  await withFolderLock(dir, LOCK_WAIT_MS, async () => {
    const state = readState(dir)
    if (state === null) return
    const chosen = chosenOf(state, only)
    await Promise.all(chosen.map((server) => apply(server, dir, state)))
    for (const { name } of chosen) delete state.processes[name]
    writeState(dir, state)
  })
}

async function startServer(server: Server, dir: string, state: ServersState): Promise<void> {
  const settings = settingsOf(server, dir, state)
  const user = ownUserOf(server.kind, dir)
  if (user) chmodSync(dir, 0o711) // the servers' users can enter it, and cannot list it
  // The server can read its folder, and write only to `data`.
  makeOwnFolder(settings.dir, user ? 0o750 : 0o700, user && { uid: 0, gid: user.gid })
  makeFolder(join(settings.dir, 'data'), 0o700)
  giveTo(user, join(settings.dir, 'data'))
  const { file, args, startsAsCaller, env } = await server.prepare({ ...settings, user })
  const log = openSync(logFile(settings), 'a', 0o600)
  const child = spawn(file, args, {
    cwd: settings.dir,
    detached: true,
    stdio: ['ignore', log, log],
    env: { PATH: process.env.PATH, HOME: user ? settings.dir : process.env.HOME, ...env },
    ...(user && !startsAsCaller && { uid: user.uid, gid: user.gid }),
  })
  closeSync(log)
  const failure = new Promise<Error>((resolve) => child.once('error', resolve))
  const identity = child.pid === undefined ? null : identifyProcess(child.pid)
  if (identity === null)
    throw new ServiceError('unavailable', `${server.title} did not start`, { cause: await failure })
  child.unref()
  state.processes[server.name] = identity
  writeState(dir, state)
  process.stderr.write(`${server.title} starts as process ${identity.pid}\n`)
  await waitUntilReady(server, dir, state)
}

async function waitUntilReady(server: Server, dir: string, state: ServersState): Promise<void> {
  const settings = settingsOf(server, dir, state)
  const deadline = Date.now() + READY_WITHIN_MS
  for (;;) {
    try {
      return await server.probe(settings)
    } catch (cause) {
      const dead = !runs(server, state)
      if (dead || Date.now() > deadline) {
        const why = dead ? 'ended at once' : `did not answer within ${READY_WITHIN_MS / 1000} s`
        const log = readFileSync(logFile(settings), 'utf8').trim().split('\n').slice(-5).join('\n')
        throw new ServiceError(
          'unavailable',
          `${server.title} ${why}; the end of ${logFile(settings)}:\n${log}`,
          { cause },
        )
      }
    }
    await delay(50)
  }
}

async function stopServer(server: Server, dir: string, state: ServersState): Promise<void> {
  const identity = state.processes[server.name]
  if (!identity || !isRunning(identity)) return
  process.stderr.write(`${server.title} stops\n`)
  const stopsItself = await server.askToStop?.(settingsOf(server, dir, state)).then(
    () => true,
    () => false,
  )
  if (!stopsItself) signalProcess(identity, 'SIGTERM')
  if (await exited(identity, STOPPED_WITHIN_MS)) return
  signalProcess(identity, 'SIGKILL')
  await exited(identity, STOPPED_WITHIN_MS)
}

async function exited(identity: ProcessIdentity, withinMs: number): Promise<boolean> {
  for (const deadline = Date.now() + withinMs; Date.now() < deadline; await delay(25))
    if (!isRunning(identity)) return true
  return false
}

function runs(server: Server, state: ServersState): boolean {
  const identity = state.processes[server.name]
  return identity !== undefined && isRunning(identity)
}

function movePorts(dir: string, state: ServersState, portBase: number | undefined): void {
  if (portBase === undefined || portBase === state.portBase) return
  if (serversOf(state).some((server) => runs(server, state)))
    throw new ServiceError(
      'invalid_argument',
      `--port-base ${portBase}: the servers of ${resolve(dir)} run on ${state.portBase}; stop them first`,
    )
  state.portBase = portBase
}

function settingsOf(server: Server, dir: string, state: ServersState): ServerSettings {
  const { portBase, kafkaClusterId, secrets } = state
  return { dir: resolve(dir, server.name), portBase, kafkaClusterId, secrets }
}

const logFile = (settings: ServerSettings) => join(settings.dir, 'server.log')
