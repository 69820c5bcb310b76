import { readFileSync } from 'node:fs'

/** The memory of a process that is resident, in MiB. Source: proc(5), `VmRSS`. */
export function residentMiB(pid: number): number {
  const status = readFileSync(`/proc/${pid}/status`, 'latin1')
  return Math.round(Number(/^VmRSS:\s+(\d+)/m.exec(status)?.[1]) / 1024)
}
