import { readFileSync } from 'node:fs'
import { cpuSeconds } from '../bench/kit/cpu.ts'

/**
 * Measures how much of the machine other processes use during a run: then they cause delays too.
 */
export class Cores {
  readonly #pids: readonly number[]
  readonly #before = readSeconds()
  readonly #ownBefore: number

  /** `pids` are the other processes of the run. */
  constructor(pids: readonly number[]) {
    this.#pids = [process.pid, ...pids]
    this.#ownBefore = this.#own()
  }

  /**
   * Fraction of all cores that other processes, or other virtual machines, have used so far; 0
   * where it is unknown.
   */
  get othersPart(): number {
    const now = readSeconds()
    if (now === null || this.#before === null) return 0
    const others = now.busy - this.#before.busy - (this.#own() - this.#ownBefore)
    return Math.max(0, others / (now.all - this.#before.all))
  }

  #own(): number {
    return this.#before === null ? 0 : this.#pids.reduce((sum, pid) => sum + cpuSeconds(pid), 0)
  }
}

/**
 * CPU seconds of all cores since the machine started. Source: proc(5), first line of /proc/stat, in
 * ticks of 10 ms.
 */
function readSeconds(): { readonly all: number; readonly busy: number } | null {
  try {
    const [line = ''] = readFileSync('/proc/stat', 'latin1').split('\n')
    const ticks = line.split(/ +/).slice(1, 9).map(Number)
    const [, , , idle = 0, wait = 0] = ticks
    const all = ticks.reduce((sum, one) => sum + one, 0)
    return { all: all / 100, busy: (all - idle - wait) / 100 }
  } catch {
    return null // not Linux
  }
}
