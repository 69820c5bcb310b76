import { readdirSync, readFileSync } from 'node:fs'

/** A process that cannot be mistaken for a later one with the same number. */
export interface ProcessIdentity {
  readonly pid: number
  /** Clock ticks from boot to the start of the process. Source: proc(5), field 22 of /proc/PID/stat. */
  readonly startTicks: number
  readonly bootId: string
}

/** The running process with this number; null when there is none. */
export function identifyProcess(pid: number): ProcessIdentity | null {
  try {
    const stat = readFileSync(`/proc/${pid}/stat`, 'utf8')
    const bootId = readFileSync('/proc/sys/kernel/random/boot_id', 'utf8').trim()
    // The second field is the name in parentheses and may hold anything; the third is the state.
    const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ')
    // A process whose first thread is dead already holds its ports until the last one is.
    const isGone = fields[0] === 'Z' && readdirSync(`/proc/${pid}/task`).length <= 1
    return isGone ? null : { pid, startTicks: Number(fields[19]), bootId }
  } catch {
    return null
  }
}

/** Whether exactly that process still runs. */
export function isRunning(identity: ProcessIdentity): boolean {
  const now = identifyProcess(identity.pid)
  return now?.startTicks === identity.startTicks && now.bootId === identity.bootId
}

/** Sends a signal to exactly that process; false when it no longer runs. */
export function signalProcess(identity: ProcessIdentity, signal: NodeJS.Signals): boolean {
  if (!isRunning(identity)) return false
  try {
    return process.kill(identity.pid, signal)
  } catch {
    return false
  }
}
