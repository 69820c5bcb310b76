import type { Swap } from '../../../pipeline/domain/event.ts'
import { serveSwap } from '../../../pipeline/domain/perturbation.ts'
import { feedFaults } from '../../simulate/followed.ts'
import type { TrueChain } from '../../simulate/true-chain.ts'
import { comesLate } from '../../simulator/grpc/slot-updates.ts'
import type { ContractTrade, Customer, CustomerFeed } from '../../whole-service/customer.ts'
import { contractTrade } from '../../whole-service/trade-item.ts'

/** A customer who follows the feed, stops, and resumes at the last position. */
export class Following {
  readonly #customer: Customer
  readonly #feeds: CustomerFeed[] = []

  constructor(customer: Customer) {
    this.#customer = customer
  }

  /** Opens a connection, after the last message of the previous one. */
  async open(): Promise<void> {
    this.#feeds.push(await this.#customer.follow(this.#feeds.at(-1)?.position))
  }

  async close(): Promise<void> {
    this.#feeds.at(-1)?.close()
    await this.#feeds.at(-1)?.closed()
  }

  /** What came over all connections, in order of arrival. */
  get received(): { readonly trades: ContractTrade[]; readonly late: ContractTrade[] } {
    return {
      trades: this.#feeds.flatMap(({ trades }) => trades),
      late: this.#feeds.flatMap(({ late }) => late),
    }
  }

  /** Whether the newest trade of the chain has come. */
  hasReached(chain: TrueChain): boolean {
    const last = swapsOf(chain).at(-1)
    const text = last && JSON.stringify(contractTrade(serveSwap(last, null)))
    const { trades, late } = this.received
    return [...late, ...trades].some((trade) => JSON.stringify(trade) === text)
  }
}

/**
 * Faults of a feed that was resumed: trades that are missing after its first one, or came twice.
 * With a `hole` of the log (slots, both included) its trades may be missing, and those that came
 * late while no process followed the stream.
 */
export function feedChecks(
  feed: Pick<Following, 'received'>,
  chain: TrueChain,
  { seed, hole }: { readonly seed: number; readonly hole: { from: number; to: number } | null },
): string[] {
  const { received } = feed
  const begun = Number(received.trades[0]?.block_time)
  return feedFaults(received, swapsOf(chain), {
    isEmbedded: false,
    mayMiss: ({ blockTime, slot, txIndex }) =>
      blockTime <= begun ||
      (hole !== null && (comesLate(seed, slot, txIndex) || (slot >= hole.from && slot <= hole.to))),
  })
}

function swapsOf(chain: TrueChain): Swap[] {
  return chain.events.flatMap((event) => (event.kind === 'swap' ? [event] : []))
}
