import type { BalanceRecord, TokenAccountLink, WalletEvent } from '../../pipeline/domain/event.ts'
import { comparePlaces, type LinkPlace } from '../../pipeline/store/tables/links.ts'
import type { Simulator } from '../simulator/simulator.ts'

/** A stretch of the chain of a token account, between two links, both excluded. */
export interface AccountStretch {
  readonly wallet: number
  readonly account: string
  readonly from: LinkPlace
  readonly to: LinkPlace
}

/** Expected records of the tracked wallets, as the simulated market states them. */
export class TrueChain {
  readonly #events: WalletEvent[] = []
  readonly #balances: BalanceRecord[] = []
  readonly #links: TokenAccountLink[] = []
  /** Transactions that are left out, as wallet, slot and index. */
  #leftOut: ReadonlySet<string> = new Set()
  /** Number of transactions of each block. */
  readonly blockLengths = new Map<number, number>()
  readonly #simulator: Simulator
  #next: number

  constructor(simulator: Simulator, firstSlot: number) {
    this.#simulator = simulator
    this.#next = firstSlot
  }

  get events(): readonly WalletEvent[] {
    return this.#kept(this.#events)
  }

  get balances(): readonly BalanceRecord[] {
    return this.#kept(this.#balances)
  }

  get links(): readonly TokenAccountLink[] {
    return this.#kept(this.#links)
  }

  /** Whether a wallet has swapped a mint. */
  hasTraded(wallet: number, mint: string): boolean {
    return this.#events.some(
      (event) => event.kind === 'swap' && event.wallet === wallet && event.baseMint === mint,
    )
  }

  /** Leaves the transactions in these stretches out, and no others. */
  leaveOut(stretches: readonly AccountStretch[]): void {
    const links = stretches.flatMap(({ wallet, account, from, to }) =>
      this.#links.filter(
        (link) =>
          link.wallet === wallet &&
          link.account === account &&
          comparePlaces(from, link) < 0 &&
          comparePlaces(link, to) < 0,
      ),
    )
    this.#leftOut = new Set(links.map(placeText))
  }

  #kept<T extends LinkPlace & { readonly wallet: number }>(records: readonly T[]): readonly T[] {
    if (this.#leftOut.size === 0) return records
    return records.filter((record) => !this.#leftOut.has(placeText(record)))
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
      this.#events.push(...events.filter((event) => event.wallet <= wallets))
      this.#balances.push(...balances.filter((balance) => balance.wallet <= wallets))
      this.#links.push(...links.filter((link) => link.wallet <= wallets))
      const { length } = this.#simulator.market.block(this.#next).transactions
      this.blockLengths.set(this.#next, length)
    }
  }
}

function placeText({ wallet, slot, txIndex }: LinkPlace & { readonly wallet: number }): string {
  return `${wallet}/${slot}/${txIndex}`
}
