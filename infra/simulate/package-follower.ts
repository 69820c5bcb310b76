import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import type { Followed } from '../../api/client/follow.ts'
import { createRandom, type Random } from '../simulator/random.ts'
import { ROOT } from '../whole-service/service-process.ts'
import { type FlakyRelay, startFlakyRelay } from './flaky-relay.ts'
import { type ReceivedTrades, receivedOf } from './followed.ts'

/** The packages of customers. */
export const PACKAGES = ['Python', 'TypeScript'] as const
type Package = (typeof PACKAGES)[number]

/** Messages until the next cut of the connection, or kill of the program: at least, and at most. */
const CUT = { least: 10, most: 150 }
const KILL = { least: 100, most: 900 }

/** What a program prints. */
type Printed = Followed | { readonly kind: 'connected' | 'cut' | 'balance_low' }

/** Settings of a follower. */
export interface PackageFollowerOptions {
  /** Where `clients/check.sh` has installed the packages. */
  readonly folder: string
  readonly url: string
  readonly apiKey: string
  readonly seed: number
}

/**
 * A program of a customer that follows the feed with an installed package. By the seed, its
 * connection is cut, and it is killed (-9) and started again after the last line that it printed.
 */
export class PackageFollower {
  readonly name: Package
  readonly #options: PackageFollowerOptions
  readonly #relay: FlakyRelay
  readonly #random: Random
  readonly #messages: Exclude<Followed, { kind: 'gap' }>[] = []
  readonly faults: string[] = []
  cuts = 0
  kills = 0
  #untilCut = 0
  #untilKill = 0
  #child: ChildProcess | null = null
  #onConnected = () => {}
  #isClosed = false

  private constructor(name: Package, options: PackageFollowerOptions, relay: FlakyRelay) {
    this.name = name
    this.#options = options
    this.#relay = relay
    this.#random = createRandom(options.seed, `package ${name}`)
    this.#untilCut = this.#draw(CUT)
    this.#untilKill = this.#draw(KILL)
  }

  /** Starts a program. Resolves when it is connected, from which on it may miss nothing. */
  static async start(name: Package, options: PackageFollowerOptions): Promise<PackageFollower> {
    const follower = new PackageFollower(name, options, await startFlakyRelay(options.url))
    await new Promise<void>((resolve, reject) => {
      follower.#onConnected = resolve
      follower.#run().then(() => reject(new Error(follower.faults.join('; '))), reject)
    })
    return follower
  }

  /** The trades in the order in which they came, repeated ones too, without withdrawn ones. */
  received(): ReceivedTrades {
    return receivedOf(this.#messages)
  }

  get trades(): number {
    return this.#messages.filter(({ kind }) => kind === 'trade').length
  }

  async close(): Promise<void> {
    this.#isClosed = true
    const child = this.#child
    if (child?.kill('SIGKILL')) await once(child, 'close')
    await this.#relay.close()
  }

  #draw({ least, most }: typeof CUT): number {
    return least + this.#random.below(most - least)
  }

  /** Runs the program again and again until `close`. */
  async #run(): Promise<void> {
    while (!this.#isClosed) {
      const { folder, apiKey } = this.#options
      const [program, script] =
        this.name === 'Python'
          ? [join(folder, 'venv/bin/python'), join(ROOT, 'clients/python/tests/print_feed.py')]
          : [process.execPath, join(folder, 'customer/print-feed.mjs')]
      const after = this.#messages.at(-1)?.id
      const args = [script, this.#relay.url, apiKey, ...(after === undefined ? [] : [after])]
      const child = spawn(program, args, { stdio: ['ignore', 'pipe', 'pipe'] })
      this.#child = child
      let stderr = ''
      child.stderr.setEncoding('utf8').on('data', (text: string) => {
        stderr = (stderr + text).slice(-2000)
      })
      let isKilled = false
      const lines = createInterface(child.stdout).on('line', (line) => {
        // What comes after the kill was not read by the customer who is killed with it.
        if (isKilled) return
        this.#take(JSON.parse(line) as Printed) // by the program's own words
        if (this.#untilKill > 0) return
        this.#untilKill = this.#draw(KILL)
        this.kills += 1
        isKilled = child.kill('SIGKILL')
      })
      await once(child, 'close')
      lines.close()
      if (isKilled || this.#isClosed) continue
      this.faults.push(`the program ended by itself: ${stderr}`)
      return
    }
  }

  #take(printed: Printed): void {
    if (printed.kind === 'connected') this.#onConnected()
    if (printed.kind === 'gap') this.faults.push('the feed has a gap')
    if (printed.kind !== 'trade' && printed.kind !== 'retracted') return
    this.#messages.push(printed)
    this.#untilKill -= 1
    this.#untilCut -= 1
    if (this.#untilCut > 0) return
    this.#untilCut = this.#draw(CUT)
    this.cuts += 1
    this.#relay.cut()
  }
}
