import { readFileSync } from 'node:fs'
import { Agent } from 'node:http'
import { setTimeout as sleep } from 'node:timers/promises'
import { sendRequest } from './ask.ts'
import { type Memory, readSample, type Sample } from './samples.ts'
import type { AttackedService } from './service.ts'
import { endpointOf } from './wire.ts'

/** A call of the harmless customer. */
export interface CustomerCall {
  readonly kind: string
  readonly ms: number
  /** 0: no response. */
  readonly status: number
}

const SCRAPE_MS = 1000
const CALL_MS = 250
const PATHS = ['/trades', '/wallets/W1/metrics']

/**
 * Watches the service while it is attacked: scrapes its metrics every second, and calls it as a
 * quiet customer does.
 */
export class Monitor {
  readonly samples: (Sample & { readonly kind: string })[] = []
  readonly calls: CustomerCall[] = []
  readonly #world: AttackedService
  readonly #onKind: (kind: string) => void
  readonly #agent: Agent
  readonly #metricsAgent = new Agent({ keepAlive: true })
  readonly #timers: NodeJS.Timeout[] = []
  #kind = 'quiet'
  #scrapedAt = performance.now()
  #waitedMs: number

  /** `onKind` is called with each kind of cases that begins. */
  constructor(world: AttackedService, onKind: (kind: string) => void = () => {}) {
    this.#world = world
    this.#onKind = onKind
    this.#waitedMs = cpuWaitMs(world.pids[0]) ?? 0
    const address = world.address()
    this.#agent = new Agent({ keepAlive: true, ...(address !== null && { localAddress: address }) })
  }

  start(): void {
    this.#timers.push(setInterval(() => void this.#scrape(), SCRAPE_MS))
    let turn = 0
    this.#timers.push(
      setInterval(() => void this.#call(PATHS[turn++ % PATHS.length] ?? ''), CALL_MS),
    )
  }

  stop(): void {
    for (const timer of this.#timers) clearInterval(timer)
    this.#agent.destroy()
    this.#metricsAgent.destroy()
  }

  /** Assigns what is measured from now on to this kind of cases. */
  async enter(kind: string): Promise<void> {
    await this.#scrape()
    this.#kind = kind
    this.#onKind(kind)
  }

  /** Memory after a garbage collection; null: unknown. */
  async memory(): Promise<Memory | null> {
    await this.#world.collectGarbage()
    const isKnown = this.#world.metricsUrl !== null
    for (let tries = 0; isKnown && tries < 20; tries++) {
      await sleep(100) // else the event loop may have had no tick since the last scrape
      const sample = await this.#scrape()
      if (sample !== null) return sample.memory
    }
    return null
  }

  async #scrape(): Promise<Sample | null> {
    const { metricsUrl } = this.#world
    if (metricsUrl === null) return null
    const kind = this.#kind
    const { pathname: path } = new URL(metricsUrl)
    const { body: text } = await sendRequest(endpointOf(metricsUrl), {
      path,
      agent: this.#metricsAgent,
    })
    const now = performance.now()
    const waitedMs = cpuWaitMs(this.#world.pids[0])
    const waits = waitedMs === null ? null : waitedMs - this.#waitedMs
    const sample = readSample(text, (now - this.#scrapedAt) / 1000, waits)
    this.#scrapedAt = now
    this.#waitedMs = waitedMs ?? 0
    if (sample !== null) this.samples.push({ ...sample, kind })
    return sample
  }

  async #call(path: string): Promise<void> {
    const { target, customerKey } = this.#world
    const kind = this.#kind
    const started = performance.now()
    const headers = { authorization: `Bearer ${customerKey}` }
    const { status } = await sendRequest(target, { path, headers, agent: this.#agent })
    this.calls.push({ kind, status, ms: performance.now() - started })
  }
}

/**
 * How long a process's main thread has waited for a core. Source: proc(5), second field of
 * /proc/PID/schedstat.
 */
function cpuWaitMs(pid: number | undefined): number | null {
  if (pid === undefined) return null
  try {
    const [, waitedNs] = readFileSync(`/proc/${pid}/schedstat`, 'latin1').split(' ')
    return Number(waitedNs) / 1e6
  } catch {
    return null // not Linux, or the process has ended
  }
}
