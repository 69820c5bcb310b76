import type { Address } from '../domain/address.ts'
import { addressFromBytes } from '../domain/address.ts'
import type { Confidence } from '../domain/event.ts'
import {
  balanceChanges,
  isNft,
  settleUnstatedCredits,
  wholeFlows,
  withoutNfts,
} from './balance-changes.ts'
import {
  classifyFlows,
  type FlowOutcome,
  type FlowSwap,
  isQuoteConversion,
  singleSwap,
} from './classify-flows.ts'
import { QUOTES, SOL } from './mint-table.ts'
import { type Flows, type InstructionRange, netFlows, passedThrough } from './net-flows.ts'
import {
  findConversions,
  isTerminalFee,
  type SolTransfers,
  sumSolTransfers,
} from './sol-transfers.ts'
import { findSwapSpans, labelOfMover, programName, type SwapSpan } from './swap-spans.ts'
import { findSwappedPool } from './swapped-pool.ts'
import { callsTradedProgram, mayTrade } from './traded-programs.ts'
import type { TransactionFacts } from './transaction-facts.ts'

/** A swap, with the program and pool it went through. */
export interface DecodedSwap extends FlowSwap {
  readonly program: string
  readonly programId: Address
  readonly pool: Address | null
  readonly confidence: Confidence
}

/** The result of one transaction for one wallet. Mints are numbers in `facts.movements.mints`. */
export interface DecodedWallet {
  /** In instruction order. Within one instruction: sells before buys, each by mint address. */
  readonly swaps: readonly DecodedSwap[]
  /** Lamports that a terminal or bot charged in addition to the swaps (rule B13a). */
  readonly terminalFee: bigint
  /** Signed base amounts by mint number that no swap explains, without NFTs (rule B12). */
  readonly transfers: readonly { readonly mint: number; readonly amount: bigint }[]
  /** SOL transfers in lamports, zero or more (rule B13). */
  readonly sol: { readonly received: bigint; readonly sent: bigint }
  readonly trace: DecodingTrace
}

/** Intermediate results of decoding, from which `reconciliation.ts` explains every lamport. */
export interface DecodingTrace {
  readonly spans: readonly { readonly flows: Flows; readonly outcome: FlowOutcome['kind'] }[]
  /** Instructions outside the swap instructions that exchanged quote coins. */
  readonly conversions: readonly InstructionRange[]
  /** Classification of the whole transaction, when no single instruction determines it. */
  readonly whole: 'swap' | 'conversion' | null
  /** Lamports sent onto accounts that the transaction created; they do not count as sent. */
  readonly ontoCreated: bigint
}

/** Decodes a successful transaction for one wallet that it names (rules B2 to B13a). */
export function decodeWallet(facts: TransactionFacts, wallet: number): DecodedWallet {
  settleUnstatedCredits(facts, wallet)
  const changes = balanceChanges(facts, wallet)
  const spans = findSwapSpans(facts, wallet)
  const inside = decodeSpans(facts, wallet, spans)
  const converted = findConversions(facts, wallet, spans)
  const whole = inside.swaps.length > 0 ? null : decodeWhole(facts, wallet, changes, spans)
  const isSwap = whole !== null && whole !== 'conversion'
  const isWholeConversion =
    whole === 'conversion' && converted.length === 0 && !inside.hasConversion
  // A decision over the whole transaction that involves SOL leaves no SOL transfers.
  const coversSol = isWholeConversion || (isSwap && whole.quote?.mint === SOL)
  const outside = coversSol
    ? NO_TRANSFERS
    : sumSolTransfers(facts, wallet, [...spans, ...converted])
  const swapsBySpan = isSwap ? [[whole]] : inside.swaps
  const isFee = isTerminalFee(outside.sent, swapsBySpan)
  const swaps = swapsBySpan.flat()
  return {
    swaps,
    terminalFee: isFee ? outside.sent : 0n,
    transfers: unexplained(facts, changes, swaps),
    sol: {
      received: isWholeConversion ? 0n : inside.received + outside.received,
      sent: isWholeConversion ? 0n : inside.sent + (isFee ? 0n : outside.sent),
    },
    trace: {
      spans: inside.trace,
      conversions: converted,
      whole: isSwap ? 'swap' : isWholeConversion ? 'conversion' : null,
      ontoCreated: outside.ontoCreated,
    },
  }
}

const NO_TRANSFERS: SolTransfers = { received: 0n, sent: 0n, ontoCreated: 0n }

/**
 * Decodes each swap span of a wallet. `swaps` has the swaps of each span that gave any. `received`
 * and `sent` are the SOL of spans that gave no swap, which are transfers (rule B13).
 */
function decodeSpans(facts: TransactionFacts, wallet: number, spans: readonly SwapSpan[]) {
  const signed = hasSigned(facts, wallet)
  const swaps: DecodedSwap[][] = []
  const trace: { flows: Flows; outcome: FlowOutcome['kind'] }[] = []
  let hasConversion = false
  let received = 0n
  let sent = 0n
  for (const span of spans) {
    const flows = withoutNfts(facts, netFlows(facts, wallet, span))
    const outcome = classifyFlows(flows, signed, () => passedThrough(facts, wallet, span))
    trace.push({ flows, outcome: outcome.kind })
    if (outcome.kind === 'swaps') {
      const located = outcome.swaps.map((swap) => locate(facts, wallet, span, swap))
      swaps.push(located.sort(bySideAndMint(facts)))
    } else if (outcome.kind === 'conversion') {
      hasConversion = true
    } else {
      const net = flows[SOL]!
      if (net > 0n) received += net
      else sent -= net
    }
  }
  return { swaps, trace, hasConversion, received, sent }
}

/**
 * The swap or conversion that balance changes over the whole transaction show (rules B8, B10); null
 * if neither. Called only when no span gave a swap.
 */
function decodeWhole(
  facts: TransactionFacts,
  wallet: number,
  changes: Flows,
  spans: readonly SwapSpan[],
): DecodedSwap | 'conversion' | null {
  if (changes.every((change) => change === 0n)) return null
  const flows = withoutNfts(facts, wholeFlows(facts, wallet, changes))
  const swap = spans.length === 0 ? wholeSwap(facts, wallet, flows) : null
  if (swap !== null) return swap
  return isQuoteConversion(flows) && callsTradedProgram(facts) ? 'conversion' : null
}

/** Balance changes of bases, less what swaps explain (rule B12). */
function unexplained(facts: TransactionFacts, changes: Flows, swaps: readonly DecodedSwap[]) {
  const rest = [...changes]
  for (const { mint, amount, side } of swaps) rest[mint]! += side === 'buy' ? -amount : amount
  const transfers: { mint: number; amount: bigint }[] = []
  for (let mint = QUOTES; mint < rest.length; mint++) {
    const amount = rest[mint]!
    if (amount !== 0n && !isNft(facts, mint, amount)) transfers.push({ mint, amount })
  }
  return transfers
}

function hasSigned({ tx, named }: TransactionFacts, wallet: number): boolean {
  const at = named.atKey.indexOf(wallet)
  return at !== -1 && at < tx.signerCount
}

/** The swap inferred from balance changes when no known venue was called (rule B10), else null. */
function wholeSwap(facts: TransactionFacts, wallet: number, whole: bigint[]): DecodedSwap | null {
  if (facts.swapCalls.length > 0 || !callsTradedProgram(facts)) return null
  const swap = singleSwap(whole)
  if (swap === null || facts.movements.mintedOrBurned.includes(swap.mint)) return null
  return {
    program: labelOfMover(facts, swap.mint) ?? 'unknown',
    programId: outermostMover(facts, wallet, swap.mint, {
      first: 0,
      end: facts.tx.instructions.length,
    }),
    pool: null,
    confidence: 'delta_only',
    ...swap,
  }
}

function locate(
  facts: TransactionFacts,
  wallet: number,
  span: SwapSpan,
  swap: FlowSwap,
): DecodedSwap {
  return {
    program: programName(facts, span, wallet, swap.mint),
    programId: span.fill?.id ?? outermostMover(facts, wallet, swap.mint, span),
    pool: findSwappedPool(facts, wallet, swap.mint, span),
    confidence: 'high',
    ...swap,
  }
}

/**
 * The program of the first top-level instruction that moved the base of the wallet, preferring one
 * that may be a trade. If none moved it, the program of the first one that may be a trade.
 */
function outermostMover(
  facts: TransactionFacts,
  wallet: number,
  mint: number,
  range: InstructionRange,
): Address {
  const { tx, tree } = facts
  let top: number | undefined
  for (const { at, mint: moved, from, to } of facts.movements.moves) {
    if (at < range.first || at >= range.end || moved !== mint) continue
    if (from !== wallet && to !== wallet) continue
    const candidate = tree.top[at]!
    if (top === undefined) top = candidate
    if (mayTrade(facts.programs[candidate]!)) {
      top = candidate
      break
    }
  }
  top ??= tree.tops.find((index) => index >= range.first && mayTrade(facts.programs[index]!))
  const { programIndex } = tx.instructions[top ?? range.first]!
  return addressFromBytes(tx.accountKeys[programIndex]!)
}

function bySideAndMint({
  movements: { mints },
}: TransactionFacts): (a: DecodedSwap, b: DecodedSwap) => number {
  return (a, b) => {
    if (a.side !== b.side) return a.side === 'sell' ? -1 : 1
    return mints.addresses[a.mint]! < mints.addresses[b.mint]! ? -1 : 1
  }
}
