import { readdirSync, readFileSync } from 'node:fs'

/** Identifies a process, also after its number was given to another one. */
export interface ProcessIdentity {
  readonly pid: number
  /**
   * Clock ticks from boot to the start of the process. Source: proc(5), field 22 of /proc/PID/stat.
   */
  readonly startTicks: number
  readonly bootId: string
}

/** The identity of the running process with this number; null if there is none. */
export function identifyProcess(pid: number): ProcessIdentity | null {
  try {
    const stat = readFileSync(`/proc/${pid}/stat`, 'utf8')
    const bootId = readFileSync('/proc/sys/kernel/random/boot_id', 'utf8').trim()
    // Field 2 is the name in parentheses, which may hold any character; field 3 is the state.
    const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ')
    // A process whose main thread has ended keeps its ports until its last thread has ended.
    const isGone = fields[0] === 'Z' && readdirSync(`/proc/${pid}/task`).length <= 1
    return isGone ? null : { pid, startTicks: Number(fields[19]), bootId }
  } catch {
    return null
  }
}

/** Whether this process still runs. */
export function isRunning(identity: ProcessIdentity): boolean {
  const now = identifyProcess(identity.pid)
  return now?.startTicks === identity.startTicks && now.bootId === identity.bootId
}

/** Sends a signal to this process; false if it no longer runs. */
export function signalProcess(identity: ProcessIdentity, signal: NodeJS.Signals): boolean {
  if (!isRunning(identity)) return false
  try {
    return process.kill(identity.pid, signal)
  } catch {
    return false
  }
}
