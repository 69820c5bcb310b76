import type { BalanceRecord, WalletEvent } from '../../pipeline/domain/event.ts'
import { createChainShape } from '../simulator/chain-shape.ts'
import { NO_TROUBLE, type Trouble } from '../simulator/options.ts'
import type { Simulator } from '../simulator/simulator.ts'

/** What the chain really did to the tracked wallets, as the market itself wrote it down. */
export class TrueChain {
  readonly events: WalletEvent[] = []
  readonly balances: BalanceRecord[] = []
  /** How many transactions each block has. */
  readonly blockLengths = new Map<number, number>()
  readonly #simulator: Simulator
  readonly #shape
  #next: number

  constructor(simulator: Simulator, seed: number, trouble: Partial<Trouble>, firstSlot: number) {
    this.#simulator = simulator
    this.#shape = createChainShape(seed, { ...NO_TROUBLE, ...trouble })
    this.#next = firstSlot
  }

  /** The newest slot with a block that a client at `confirmed` has been shown. */
  get tip(): number {
    const { confirmedSlot } = this.#simulator
    return this.#shape.kind(confirmedSlot) === 'produced'
      ? confirmedSlot
      : this.#shape.parent(confirmedSlot)
  }

  /** Takes in what has happened up to the tip. */
  catchUp(wallets: number): void {
    const { tip } = this
    for (; this.#next <= tip; this.#next += 1) {
      if (this.#shape.kind(this.#next) !== 'produced') continue
      const { events, balances } = this.#simulator.truth(this.#next)
      this.events.push(...events.filter((event) => event.wallet <= wallets))
      this.balances.push(...balances.filter((balance) => balance.wallet <= wallets))
      const { length } = this.#simulator.market.block(this.#next).transactions
      this.blockLengths.set(this.#next, length)
    }
  }
}
