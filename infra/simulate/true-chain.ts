import type { BalanceRecord, TokenAccountLink, WalletEvent } from '../../pipeline/domain/event.ts'
import type { Simulator } from '../simulator/simulator.ts'

/** Expected records of the tracked wallets, as the simulated market states them. */
export class TrueChain {
  readonly events: WalletEvent[] = []
  readonly balances: BalanceRecord[] = []
  readonly links: TokenAccountLink[] = []
  /** Number of transactions of each block. */
  readonly blockLengths = new Map<number, number>()
  readonly #simulator: Simulator
  #next: number

  constructor(simulator: Simulator, firstSlot: number) {
    this.#simulator = simulator
    this.#next = firstSlot
  }

  /** The newest produced slot that a client at `confirmed` has seen. */
  get tip(): number {
    const { confirmedSlot, shape } = this.#simulator
    return shape.kind(confirmedSlot) === 'produced' ? confirmedSlot : shape.parent(confirmedSlot)
  }

  /** Adds the slots up to the tip. */
  catchUp(wallets: number): void {
    const { tip } = this
    for (; this.#next <= tip; this.#next += 1) {
      if (this.#simulator.shape.kind(this.#next) !== 'produced') continue
      const { events, balances, links } = this.#simulator.truth(this.#next)
      this.events.push(...events.filter((event) => event.wallet <= wallets))
      this.balances.push(...balances.filter((balance) => balance.wallet <= wallets))
      this.links.push(...links.filter((link) => link.wallet <= wallets))
      const { length } = this.#simulator.market.block(this.#next).transactions
      this.blockLengths.set(this.#next, length)
    }
  }
}
