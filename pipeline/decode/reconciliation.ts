import { balanceChanges, solChange, wholeFlows } from './balance-changes.ts'
import type { DecodedWallet } from './decode-wallet.ts'
import { QUOTES, SOL } from './mint-table.ts'
import { type Flows, netFlows } from './net-flows.ts'
import type { TransactionFacts } from './transaction-facts.ts'

/**
 * A breakdown of the whole change of a quote coin, in raw units; above zero is incoming. `change`
 * is the sum of all other fields. Amounts that become no event have fields too. SOL of the system
 * account and of WSOL accounts counts together.
 */
export interface QuoteReconciliation {
  readonly change: bigint
  /** Quote amounts of swaps. The two swaps of a token-for-token pair cancel out. */
  readonly swaps: bigint
  /** Quote coins that moved in addition to the quote of a swap (rules B6, B6a, B7). */
  readonly besideSwaps: bigint
  /** Quote coins exchanged for each other (rule B8). */
  readonly conversions: bigint
  /** SOL transfers and the fees of terminals. */
  readonly transfers: bigint
  /** USDC and USDT that no swap explains. They become no transfers (rule B12). */
  readonly dollarTransfers: bigint
  readonly networkFee: bigint
  readonly tips: bigint
  readonly rent: bigint
  /** SOL put on accounts that the transaction created (rule B13). */
  readonly ontoCreated: bigint
  /**
   * Lamports that programs credited or debited without an instruction (rule B13) and that no swap
   * counts.
   */
  readonly direct: bigint
}

/**
 * Returns the breakdowns of WSOL, USDC and USDT for a decoded wallet, in that order. A check on the
 * decoder, used by tests only.
 */
export function reconcileQuotes(
  facts: TransactionFacts,
  wallet: number,
  decoded: DecodedWallet,
): QuoteReconciliation[] {
  const { trace, terminalFee } = decoded
  const changes = balanceChanges(facts, wallet)
  const flows = netFlows(facts, wallet, { first: 0, end: facts.tx.instructions.length })
  const sol = solChange(facts, wallet)
  const swaps = zeros()
  const insideSwaps = zeros()
  const conversions = zeros()
  for (const { side, quote } of decoded.swaps) {
    if (quote !== null) swaps[quote.mint]! += side === 'buy' ? -quote.amount : quote.amount
  }
  for (const span of trace.spans) {
    if (span.outcome !== 'none')
      add(span.outcome === 'swaps' ? insideSwaps : conversions, span.flows)
  }
  for (const range of trace.conversions) add(conversions, netFlows(facts, wallet, range))

  let { direct } = sol
  if (trace.whole !== null) {
    const whole = wholeFlows(facts, wallet, changes)
    // A decision over the whole transaction covers everything; SOL only when SOL takes part in it.
    const withSol = trace.whole === 'conversion' || decoded.swaps[0]?.quote?.mint === SOL
    if (withSol) direct -= whole[SOL]! - sol.flows
    const target = trace.whole === 'conversion' ? conversions : insideSwaps
    for (let mint = withSol ? SOL : SOL + 1; mint < QUOTES; mint++) {
      conversions[mint] = 0n
      target[mint] = whole[mint]!
    }
  }
  return Array.from({ length: QUOTES }, (_, mint) => {
    const isSol = mint === SOL
    const inside = insideSwaps[mint]! + conversions[mint]!
    return {
      change: isSol ? sol.change : changes[mint]!,
      swaps: swaps[mint]!,
      besideSwaps: insideSwaps[mint]! - swaps[mint]!,
      conversions: conversions[mint]!,
      transfers: isSol ? decoded.sol.received - decoded.sol.sent - terminalFee : 0n,
      dollarTransfers: isSol ? 0n : flows[mint]! - inside,
      networkFee: isSol ? -sol.fee : 0n,
      tips: isSol ? -sol.tips : 0n,
      rent: isSol ? -sol.rent : 0n,
      ontoCreated: isSol ? -trace.ontoCreated : 0n,
      direct: isSol ? direct : 0n,
    }
  })
}

function zeros(): Flows {
  return new Array(QUOTES).fill(0n)
}

function add(sum: Flows, flows: Flows): void {
  for (let mint = 0; mint < QUOTES; mint++) sum[mint]! += flows[mint]!
}
