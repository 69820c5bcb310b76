import type { Address } from '../domain/address.ts'
import { addressFromBytes } from '../domain/address.ts'
import type { Confidence } from '../domain/event.ts'
import {
  balanceChanges,
  isNft,
  settleUntoldCredits,
  wholeFlows,
  withoutNfts,
} from './balance-changes.ts'
import type { Facts } from './facts.ts'
import { QUOTES, SOL } from './mint-table.ts'
import { netFlows, passedThrough, type Range } from './net-flows.ts'
import {
  conversions,
  isTerminalFee,
  type SolTransfers,
  solTransfersOutside,
} from './sol-transfers.ts'
import { programName, type SwapSpan, swapSpans } from './swap-spans.ts'
import { type FlowSwap, isConversion, singleSwap, swapsOfFlows } from './swaps-of-flows.ts'
import { callsAccepted, isAccepted } from './traded-programs.ts'

/** A swap with where it was made. */
export interface DecodedSwap extends FlowSwap {
  readonly program: string
  readonly programId: Address
  readonly confidence: Confidence
}

/** What one transaction was for one wallet. Mints by their number in `facts.mints`. */
export interface DecodedWallet {
  /** In instruction order; of one instruction sells before buys, each by mint. */
  readonly swaps: readonly DecodedSwap[]
  /** Lamports beside the swaps that went to a terminal or bot (decisions B13a). */
  readonly terminalFee: bigint
  /** Signed base amounts by mint number that no swap explains (decisions B12); NFTs left out. */
  readonly transfers: readonly { readonly mint: number; readonly amount: bigint }[]
  readonly sol: SolTransfers
}

/** Decodes a successful transaction for one wallet that it names (decisions B2-B13a). */
export function decodeWallet(facts: Facts, wallet: number): DecodedWallet {
  settleUntoldCredits(facts, wallet)
  const signed = hasSigned(facts, wallet)
  const changes = balanceChanges(facts, wallet)
  const spans = swapSpans(facts, wallet)
  const bySpan: DecodedSwap[][] = []
  const noTransfers: Range[] = [...spans]
  let restReceived = 0n
  let restSent = 0n
  for (const span of spans) {
    const flows = withoutNfts(facts, netFlows(facts, wallet, span))
    const outcome = swapsOfFlows(flows, signed, () => passedThrough(facts, wallet, span))
    if (outcome.kind === 'swaps') {
      bySpan.push(
        outcome.swaps.map((swap) => place(facts, wallet, span, swap)).sort(bySideAndMint(facts)),
      )
    } else if (outcome.kind === 'none') {
      // No swap of it: its SOL is a transfer (decisions B13).
      const net = flows[SOL]!
      if (net > 0n) restReceived += net
      else restSent -= net
    }
  }

  const converted = conversions(facts, wallet, spans)
  noTransfers.push(...converted)
  let outside = solTransfersOutside(facts, wallet, noTransfers)
  if (bySpan.length === 0 && changes.some((change) => change !== 0n)) {
    const whole = withoutNfts(facts, wholeFlows(facts, wallet, changes))
    const single = spans.length === 0 ? wholeSwap(facts, wallet, whole) : null
    if (single !== null) {
      bySpan.push([single])
      if (single.quote?.mint === SOL) outside = NOTHING
    } else if (converted.length === 0 && isConversion(whole) && callsAccepted(facts)) {
      outside = NOTHING
      restReceived = 0n
      restSent = 0n
    }
  }

  const swaps = bySpan.flat()
  const explained = new Map<number, bigint>()
  for (const { mint, amount, side } of swaps) {
    explained.set(mint, (explained.get(mint) ?? 0n) + (side === 'buy' ? amount : -amount))
  }
  const transfers: { mint: number; amount: bigint }[] = []
  for (let mint = QUOTES; mint < changes.length; mint++) {
    const amount = changes[mint]! - (explained.get(mint) ?? 0n)
    if (amount !== 0n && !isNft(facts, mint, amount)) transfers.push({ mint, amount })
  }
  const isFee = isTerminalFee(outside.sent, bySpan)
  return {
    swaps,
    terminalFee: isFee ? outside.sent : 0n,
    transfers,
    sol: {
      received: outside.received + restReceived,
      sent: (isFee ? 0n : outside.sent) + restSent,
    },
  }
}

const NOTHING: SolTransfers = { received: 0n, sent: 0n }

function hasSigned({ tx, named }: Facts, wallet: number): boolean {
  const at = named.atKey.indexOf(wallet)
  return at !== -1 && at < tx.signerCount
}

/** The swap that balance changes tell when nothing known was called (decisions B10). */
function wholeSwap(facts: Facts, wallet: number, whole: bigint[]): DecodedSwap | null {
  if (facts.swapCalls.length > 0 || !callsAccepted(facts)) return null
  const swap = singleSwap(whole)
  if (swap === null || facts.movements.mintedOrBurned.includes(swap.mint)) return null
  return {
    ...swap,
    program: 'unknown',
    programId: outermostMover(facts, wallet, swap.mint, {
      first: 0,
      end: facts.tx.instructions.length,
    }),
    confidence: 'delta_only',
  }
}

function place(facts: Facts, wallet: number, span: SwapSpan, swap: FlowSwap): DecodedSwap {
  return {
    ...swap,
    program: programName(facts, span, wallet, swap.mint),
    programId: span.fill?.id ?? outermostMover(facts, wallet, swap.mint, span),
    confidence: 'high',
  }
}

/** The program of the top-level instruction that moved the base of the wallet first; failing that, of the first one that may be a trade. */
function outermostMover(facts: Facts, wallet: number, mint: number, range: Range): Address {
  const { tx, tree } = facts
  let top: number | undefined
  for (const { at, mint: moved, from, to } of facts.movements.moves) {
    if (at < range.first || at >= range.end || moved !== mint) continue
    if (from !== wallet && to !== wallet) continue
    const candidate = tree.top[at]!
    if (top === undefined) top = candidate
    if (isAccepted(facts.programs[candidate]!)) {
      top = candidate
      break
    }
  }
  top ??= tree.tops.find((place) => place >= range.first && isAccepted(facts.programs[place]!))
  const { programIndex } = tx.instructions[top ?? range.first]!
  return addressFromBytes(tx.accountKeys[programIndex]!)
}

function bySideAndMint({
  movements: { mints },
}: Facts): (a: DecodedSwap, b: DecodedSwap) => number {
  return (a, b) => {
    if (a.side !== b.side) return a.side === 'sell' ? -1 : 1
    return mints.addresses[a.mint]! < mints.addresses[b.mint]! ? -1 : 1
  }
}
