import { setTimeout as pause } from 'node:timers/promises'
import { Customer } from '../../whole-service/customer.ts'

const PAUSE_MS = 100

/** A program that calls an endpoint of one credit all the time, and knows two addresses of it. */
export class RestLoad {
  readonly faults: string[] = []
  /** Calls that were answered. */
  calls = 0
  /** Calls that an address refused because its process was being replaced. */
  refused = 0
  #isStopped = false
  readonly #running: Promise<void>

  constructor(urls: readonly string[], key: string) {
    this.#running = this.#run(urls.map((url) => new Customer(url, key)))
  }

  async stop(): Promise<void> {
    this.#isStopped = true
    await this.#running
  }

  async #run(customers: readonly Customer[]): Promise<void> {
    for (let turn = 0; !this.#isStopped && customers.length > 0; turn += 1) {
      const order = customers.map((_, index) => customers[(turn + index) % customers.length])
      if (!(await this.#callAny(order))) this.faults.push('no address answered a call')
      await pause(PAUSE_MS)
    }
  }

  async #callAny(customers: readonly (Customer | undefined)[]): Promise<boolean> {
    for (const customer of customers) {
      const answer = await customer?.get('/wallets').catch(() => null)
      if (!answer) this.refused += 1
      else {
        if (answer.status === 200) this.calls += 1
        else this.faults.push(`a call was answered with ${answer.status}`)
        return true
      }
    }
    return false
  }
}
