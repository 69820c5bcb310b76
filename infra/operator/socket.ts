import { once } from 'node:events'
import { rm } from 'node:fs/promises'
import { createServer, request } from 'node:http'
import { connect } from 'node:net'
import { relative, resolve } from 'node:path'
import { createInterface } from 'node:readline'
import { text } from 'node:stream/consumers'
import { ServiceError, type ServiceErrorCode } from '../../pipeline/domain/service-error.ts'
import type { Logger } from '../../pipeline/runtime/logger.ts'
import { makeFolder } from '../../pipeline/runtime/make-folder.ts'
import { type Caller, currentCaller, decodeCaller, encodeCaller } from './caller.ts'
import type { CommandResult } from './command.ts'
import type { Progress, Report } from './progress.ts'

/** Outcome of a command. The process that owns the data sends it as JSON over the socket. */
export type Reply =
  | { readonly kind: 'done'; readonly outcome: CommandResult }
  | { readonly kind: 'error'; readonly code: ServiceErrorCode; readonly message: string }

/** One line of a response over the socket: progress, and the reply as the last line. */
type Line = Reply | { readonly kind: 'progress'; readonly progress: Progress }

/**
 * Returns the path of the socket on which the process that owns `dataDir` takes operator commands
 * (rule J3). Throws `bad_config` when both the absolute path and the path from the working
 * directory are longer than Unix allows.
 */
function socketPath(dataDir: string): string {
  const path = resolve(dataDir, 'operator.sock')
  const paths = [path, relative('.', path)]
  const fitting = paths.find((path) => Buffer.byteLength(path) <= MAX_PATH_BYTES)
  if (fitting !== undefined) return fitting
  const why = `DATA_DIR: the path of its operator.sock is longer than ${MAX_PATH_BYTES} bytes; choose a shorter one`
  throw new ServiceError('bad_config', why)
}

/** `sun_path` of unix(7) has 108 bytes on Linux and 104 on macOS, including a zero byte. */
const MAX_PATH_BYTES = 103

/**
 * Serves operator commands on the socket: `run` runs each. Only the user of this process can
 * connect. `close` aborts running commands and waits until they have ended.
 */
export async function serveOperator(
  dataDir: string,
  run: (
    args: readonly string[],
    report: Report,
    stop: AbortSignal,
    caller: Caller,
  ) => Promise<CommandResult>,
  logger: Logger,
): Promise<{ close(): Promise<void> }> {
  const path = socketPath(dataDir)
  makeFolder(dataDir)
  // A killed process leaves its socket. The lock of the data keeps a second process out.
  await rm(path, { force: true })
  const running = new Set<AbortController>()
  const server = createServer(async (incoming, response) => {
    const write = (line: Line) => response.write(`${JSON.stringify(line)}\n`)
    const gone = new AbortController()
    running.add(gone)
    response.once('close', () => {
      running.delete(gone)
      gone.abort()
    })
    let command: string | null = null
    const reply = await replyOf(async () => {
      const args = JSON.parse(await text(incoming)) as string[] // written by askOperator
      const { nameOf } = await import('./commands.ts') // a client does not load the commands
      command = nameOf(args)
      const caller = decodeCaller(incoming.headers[CALLER])
      return run(args, (progress) => write({ kind: 'progress', progress }), gone.signal, caller)
    })
    if (reply.kind === 'error')
      logger.warn({ command, code: reply.code }, 'operator command failed')
    write(reply)
    response.end()
  })
  await new Promise<void>((settle, reject) => {
    const umask = process.umask(0o177) // the socket is created with mode 0600
    server.once('error', reject).listen(path, settle)
    process.umask(umask)
  })
  return {
    close: () =>
      new Promise((settle) => {
        server.close(() => settle())
        server.closeIdleConnections()
        for (const command of running) command.abort()
      }),
  }
}

/** Whether a running process owns `dataDir`: it listens on the socket. */
export async function isServed(dataDir: string): Promise<boolean> {
  const socket = connect(socketPath(dataDir))
  try {
    await once(socket, 'connect')
    return true
  } catch {
    return false
  } finally {
    socket.destroy()
  }
}

/**
 * Runs a command in the process that owns `dataDir`; null when no process does. Rejects with
 * `unreachable` when the process goes away.
 */
export function askOperator(
  dataDir: string,
  args: readonly string[],
  report: Report,
): Promise<Reply | null> {
  return new Promise((settle, reject) => {
    const socket = { socketPath: socketPath(dataDir), agent: false }
    const headers = { [CALLER]: encodeCaller(currentCaller()) }
    const outgoing = request({ ...socket, method: 'POST', path: '/', headers })
    outgoing.on('error', (error: NodeJS.ErrnoException) => {
      if (error.code === 'ENOENT' || error.code === 'ECONNREFUSED') settle(null)
      else reject(wentAway(error))
    })
    outgoing.on('response', (response) => {
      const lines = createInterface({ input: response })
      lines.on('line', (text) => {
        const line = JSON.parse(text) as Line // written by serveOperator
        if (line.kind === 'progress') report(line.progress)
        else settle(line)
      })
      lines.on('close', () => reject(wentAway()))
      // readline also emits the errors of the response.
      lines.on('error', (error) => reject(wentAway(error)))
    })
    outgoing.end(JSON.stringify(args))
  })
}

/** The header with the caller's user. Nothing verifies it (see docs/operating.md). */
const CALLER = 'x-operator-caller'

function wentAway(cause?: unknown): ServiceError {
  return new ServiceError('unreachable', 'the connection to the service was lost', { cause })
}

/** Runs a command; its result, or its error, as a reply. */
async function replyOf(run: () => Promise<CommandResult>): Promise<Reply> {
  try {
    return { kind: 'done', outcome: await run() }
  } catch (error) {
    return errorReplyOf(error)
  }
}

/** An error as a reply. A bug shows none of its details. */
export function errorReplyOf(error: unknown): Reply {
  if (error instanceof ServiceError)
    return { kind: 'error', code: error.code, message: error.message }
  return { kind: 'error', code: 'internal', message: 'internal error: see the log' }
}
