import type { Followed } from '../../api/client/follow.ts'
import type { Swap } from '../../pipeline/domain/event.ts'
import { compareEventKeys } from '../../pipeline/domain/event-key.ts'
import { serveSwap } from '../../pipeline/domain/perturbation.ts'
import { type ContractTrade, contractFields } from '../whole-service/customer.ts'
import { contractTrade } from '../whole-service/trade-item.ts'

/**
 * What a follower of the socket received over all its connections, each resumed after the last
 * message of the previous one.
 */
export interface ReceivedTrades {
  /** Trades in order of arrival, without late ones. */
  readonly trades: readonly ContractTrade[]
  readonly late: readonly ContractTrade[]
}

/** The trades of messages in their order, without those that were withdrawn. */
export function receivedOf(messages: readonly Followed[]): ReceivedTrades {
  const withdrawn = new Set(
    messages.flatMap((one) => (one.kind === 'retracted' ? [one.tradeId] : [])),
  )
  const trades = (isLate: boolean): readonly ContractTrade[] =>
    messages.flatMap((one) =>
      one.kind === 'trade' && one.late === isLate && !withdrawn.has(one.tradeId)
        ? [contractFields({ ...one.trade })]
        : [],
    )
  return { trades: trades(false), late: trades(true) }
}

/** What a feed may lack or repeat. */
export interface FeedCheckOptions {
  /**
   * Whether the log is in memory: then a process killed between sending and storing a late trade
   * may send it again (infra/decisions/cursors.md).
   */
  readonly isEmbedded: boolean
  /**
   * Whether a trade may be missing, because its wallet's history was fetched or the service passed
   * its slot over (rule K2).
   */
  readonly mayMiss: (swap: Swap) => boolean
  /**
   * Whether values in SOL are not compared: a swap may have been sent before its price was
   * withdrawn, or filled in.
   */
  readonly ignoresValue?: boolean
}

/**
 * Faults in what a follower received (rules F3, F4). Together its connections must have the true
 * trades, each once, and all but late ones in event-key order. Equal trades are told apart only by
 * their order and number.
 */
export function feedFaults(
  followed: ReceivedTrades,
  truth: readonly Swap[],
  { isEmbedded, mayMiss, ignoresValue = false }: FeedCheckOptions,
): string[] {
  const swaps = [...truth].sort(compareEventKeys)
  const textOf = (trade: ContractTrade) =>
    JSON.stringify(ignoresValue ? { ...trade, sol_amount: null } : trade)
  const texts = swaps.map((swap) => textOf(contractTrade(serveSwap(swap, null))))
  const wrong: string[] = []
  const left = countEach(texts)
  let place = -1
  for (const trade of followed.trades) {
    const text = textOf(trade)
    if (take(left, text) === 'unknown') {
      wrong.push(`a trade of the feed never happened: ${text}`)
      continue
    }
    const next = texts.indexOf(text, place + 1)
    if (next === -1) wrong.push(`a trade of the feed came twice or out of order: ${text}`)
    else place = next
  }
  const lateOnce = new Set<string>()
  for (const trade of followed.late) {
    const text = textOf(trade)
    const taken = take(left, text)
    if (taken === 'unknown') wrong.push(`a late trade of the feed never happened: ${text}`)
    if (taken === 'over' && !(isEmbedded && lateOnce.has(text)))
      wrong.push(`a late trade of the feed came twice: ${text}`)
    lateOnce.add(text)
  }
  for (const [index, swap] of swaps.entries()) {
    const text = texts[index] ?? ''
    if (left.get(text) === 0 || mayMiss(swap) || take(left, text) !== 'taken') continue
    wrong.push(`a trade is missing in the feed: slot ${swap.slot}, ${text}`)
  }
  return wrong
}

function countEach(texts: readonly string[]): Map<string, number> {
  const counts = new Map<string, number>()
  for (const text of texts) counts.set(text, (counts.get(text) ?? 0) + 1)
  return counts
}

function take(left: Map<string, number>, text: string): 'taken' | 'over' | 'unknown' {
  const count = left.get(text)
  if (count === undefined) return 'unknown'
  if (count === 0) return 'over'
  left.set(text, count - 1)
  return 'taken'
}
