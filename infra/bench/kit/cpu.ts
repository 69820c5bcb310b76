import { readFileSync } from 'node:fs'

/**
 * Seconds of CPU that a process has used, all threads, user and kernel. Source: proc(5), fields 14
 * and 15 of /proc/PID/stat, in ticks of 10 ms.
 */
export function cpuSeconds(pid: number): number {
  return secondsIn(`/proc/${pid}/stat`)
}

/** The same of its main thread, which in Node runs the event loop. */
export function mainThreadCpuSeconds(pid: number): number {
  return secondsIn(`/proc/${pid}/task/${pid}/stat`)
}

function secondsIn(file: string): number {
  const stat = readFileSync(file, 'latin1')
  const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ') // from field 3 on
  return (Number(fields[11]) + Number(fields[12])) / 100
}

/** Starts a stopwatch; it returns the seconds since then, and this process's CPU in them. */
export function startMeter(): () => { readonly seconds: number; readonly cpuSeconds: number } {
  const startedAt = performance.now()
  const cpu = process.cpuUsage()
  return () => {
    const { user, system } = process.cpuUsage(cpu)
    return { seconds: (performance.now() - startedAt) / 1000, cpuSeconds: (user + system) / 1e6 }
  }
}
