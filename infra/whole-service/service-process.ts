import { type ChildProcess, spawn } from 'node:child_process'
import { EventEmitter, once } from 'node:events'
import { resolve } from 'node:path'
import { createInterface } from 'node:readline'
import { until } from './customer.ts'

/** The project's root, seen from `dist/infra/whole-service`. */
export const ROOT = resolve(import.meta.dirname, '../../..')

/** A program of the project in a separate process. */
export interface ServiceProcess {
  readonly child: ChildProcess
  /** The `key=value` lines printed so far. */
  readonly lines: ReadonlyMap<string, string>
  /** The whole output so far. */
  stdout(): string
  stderr(): string
  /**
   * Resolves with the value of `key` when its line is printed; rejects when the process ends
   * before.
   */
  line(key: string): Promise<string>
  /** Resolves with the exit code (or the signal's name) when the process has ended. */
  readonly ended: Promise<number | string>
  /** Whether it has ended and all its output has arrived. */
  hasEnded(): boolean
  /** Sends SIGTERM and waits for the end. */
  stop(): Promise<number | string>
  /** Sends SIGKILL and waits for the end. */
  kill(): Promise<number | string>
}

/** Programs that run. They end with this process, unless it is killed. */
const running = new Set<ChildProcess>()
process.once('exit', () => {
  for (const child of running) child.kill('SIGKILL')
})

/**
 * Starts `node <nodeOptions> dist/<script> <args>` in `root`. Its environment is `env`, and PATH
 * and HOME of this process.
 */
export function startProcess(
  script: string,
  env: Readonly<Record<string, string>>,
  args: readonly string[] = [],
  nodeOptions: readonly string[] = [],
  root = ROOT,
): ServiceProcess {
  const child = spawn(process.execPath, [...nodeOptions, resolve(root, 'dist', script), ...args], {
    cwd: root,
    env: { PATH: process.env.PATH, HOME: process.env.HOME, ...env },
    stdio: ['ignore', 'pipe', 'pipe'],
  })
  running.add(child)
  child.once('exit', () => running.delete(child))
  const lines = new Map<string, string>()
  const printed = new EventEmitter().setMaxListeners(0)
  let stdout = ''
  createInterface(child.stdout).on('line', (text) => {
    stdout = lastLines(`${stdout}${text}\n`)
    const [, key, value] = /^(\w+)=(.*)$/.exec(text) ?? []
    if (key === undefined || value === undefined) return
    lines.set(key, value)
    printed.emit(key, value)
  })
  let stderr = ''
  child.stderr.setEncoding('utf8').on('data', (text: string) => {
    stderr = lastLines(stderr + text)
  })
  let hasEnded = false
  const ended = once(child, 'close').then(([code, signal]) => {
    hasEnded = true
    return (code ?? signal) as number | string
  })
  const end = (signal: NodeJS.Signals) => {
    child.kill(signal)
    return ended
  }
  return {
    child,
    lines,
    stdout: () => stdout,
    stderr: () => stderr,
    ended,
    hasEnded: () => hasEnded,
    line: (key) =>
      new Promise((settle, reject) => {
        const value = lines.get(key)
        if (value !== undefined) return settle(value)
        printed.once(key, settle)
        ended.then((code) =>
          reject(new Error(`${script} ended (${code}) before it printed ${key}=\n${stderr}`)),
        )
      }),
    stop: () => end('SIGTERM'),
    kill: () => end('SIGKILL'),
  }
}

/** The last whole lines of a program's output, 1 MB at most: a test reads each line as JSON. */
function lastLines(output: string): string {
  const excess = output.length - 1_000_000
  return excess <= 0 ? output : output.slice(output.indexOf('\n', excess - 1) + 1)
}

/** Starts an operator command on the data that `env` names, of the build in `root`. */
export function startOperator(
  env: Readonly<Record<string, string>>,
  args: readonly string[],
  root = ROOT,
): ServiceProcess {
  return startProcess('infra/operator/main.js', env, args, [], root)
}

/** The exit code and the document of an operator command, when it has ended (rule J3). */
export async function commandOutcome(
  command: ServiceProcess,
): Promise<{ readonly code: number | string; readonly document: unknown }> {
  const code = await command.ended
  return { code, document: JSON.parse(command.stdout()) as unknown }
}

/** Resolves when the process has logged a text, with the first line that contains it. */
export function logged(process: ServiceProcess, text: string, timeoutMs?: number): Promise<string> {
  const find = () => process.stderr().split('\n')
  return until(
    async () => find().find((line) => line.includes(text)) ?? '',
    (line) => line !== '',
    timeoutMs,
  )
}
