import { isQuoteConversion } from '../../pipeline/decode/classify-flows.ts'
import type { Decoder } from '../../pipeline/decode/decoder.ts'
import { QUOTES } from '../../pipeline/decode/mint-table.ts'
import { findNamedWallets } from '../../pipeline/decode/named-wallets.ts'
import { netFlows } from '../../pipeline/decode/net-flows.ts'
import { REGISTRY } from '../../pipeline/decode/registry.ts'
import { findSwapSpans } from '../../pipeline/decode/swap-spans.ts'
import { readTransactionFacts } from '../../pipeline/decode/transaction-facts.ts'
import type { Transaction } from '../../pipeline/domain/transaction.ts'
import type { Wallets } from '../../pipeline/domain/wallets.ts'
import type { RecordedTransaction } from './read-corpus.ts'

/** Why a transaction that touches a venue gave no swap, by the rule that says so. */
export type NoSwap =
  | 'no swap entry point is called: liquidity, fees, orders placed, prices told (B4)'
  | 'quote coin for quote coin (B8)'
  | 'what was bought was sold again within the instruction (B9)'
  | 'no tracked wallet exchanged anything: its tokens only came in, or only went out unsigned (B6a, B12)'

/** Decoding results of successful transactions that touch a venue, router or order program. */
export interface VenueCoverage {
  /** Every swap is `high`. */
  readonly high: number
  /** At least one swap is `delta_only`. */
  readonly deltaOnly: number
  readonly none: ReadonlyMap<NoSwap, number>
}

/** The coverage of `touching`. Every fee payer of theirs must be in `wallets`. */
export function readCoverage(
  touching: readonly RecordedTransaction[],
  decoder: Decoder,
  wallets: Wallets,
): VenueCoverage {
  let high = 0
  let deltaOnly = 0
  const none = new Map<NoSwap, number>()
  for (const { tx, blockTime } of touching) {
    const result = decoder.decode(tx, blockTime)
    const records = result.kind === 'decoded' ? result.records : []
    const swaps = records.filter((record) => record.kind === 'swap')
    if (swaps.length === 0) {
      const why = whyNone(tx, wallets)
      none.set(why, (none.get(why) ?? 0) + 1)
    } else if (swaps.every(({ confidence }) => confidence === 'high')) high++
    else deltaOnly++
  }
  return { high, deltaOnly, none }
}

function whyNone(tx: Transaction, wallets: Wallets): NoSwap {
  const named = findNamedWallets(tx, wallets)
  if (named === null) throw new Error('every fee payer of the corpus is tracked')
  const facts = readTransactionFacts(tx, named, wallets, REGISTRY)
  const flows = named.wallets.flatMap((wallet) =>
    findSwapSpans(facts, wallet).map((span) => netFlows(facts, wallet, span)),
  )
  if (flows.length === 0) {
    return 'no swap entry point is called: liquidity, fees, orders placed, prices told (B4)'
  }
  if (flows.some(isQuoteConversion)) return 'quote coin for quote coin (B8)'
  // A mint that moved and nets to zero keeps its place among the flows.
  if (flows.some((flow) => flow.slice(QUOTES).every((amount) => amount === 0n))) {
    return 'what was bought was sold again within the instruction (B9)'
  }
  return 'no tracked wallet exchanged anything: its tokens only came in, or only went out unsigned (B6a, B12)'
}
