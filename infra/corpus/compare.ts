import type { Swap, WalletEvent } from '../../pipeline/domain/event.ts'
import { WSOL } from '../../pipeline/domain/quote.ts'

/**
 * The result of an independent source for a transaction (`expectations.jsonl` of the corpus, see
 * its README).
 */
export interface SourceExpectation {
  readonly signature: string
  /** The wallet of the expectation; the fee payer when it names none. */
  readonly wallet?: string
  readonly kind: string
  readonly mint?: string
  readonly amount?: string
  readonly side?: string
  readonly base_mint?: string
  readonly base_amount?: string
  readonly quote_mint?: string
  readonly quote_amount?: string
  readonly rows?: readonly { readonly received_amount: string; readonly sent_amount: string }[]
  readonly asserts?: Readonly<Record<string, string>>
}

/**
 * Describes how the events differ from an expectation; null when they agree. Only an expectation of
 * kind trade expects events.
 */
export function difference(
  expected: SourceExpectation,
  events: readonly WalletEvent[],
): string | null {
  const swaps = events.filter((event) => event.kind === 'swap')
  switch (expected.kind) {
    case 'swap':
      return swapDifference(expected, swaps)
    case 'multi-swap':
      return swaps.length > 0 ? null : 'swaps expected, none found'
    case 'not-the-signers-trade': {
      const booked = swaps.some(({ baseMint }) => baseMint === expected.mint)
      return booked ? 'a trade of the signer was found' : null
    }
    default:
      if (swaps.length > 0) return `no trade expected (${expected.kind}), ${list(swaps)} found`
      return expected.kind === 'transfer' ? transferDifference(expected, events) : null
  }
}

function swapDifference(expected: SourceExpectation, swaps: readonly Swap[]): string | null {
  const { side, base_mint, base_amount, quote_mint, quote_amount } = expected
  const found = swaps.some(
    (swap) =>
      (side === undefined || swap.side === side) &&
      (base_mint === undefined || swap.baseMint === base_mint) &&
      (base_amount === undefined || String(swap.baseAmount) === base_amount) &&
      (quote_mint === undefined || swap.quoteMint === mintOf(quote_mint)) &&
      (quote_amount === undefined || String(swap.quoteAmount) === quote_amount) &&
      uiAmounts(expected).every((amount) => isAmountOf(swap, amount)),
  )
  if (found) return null
  const wanted = [
    side,
    base_amount,
    base_mint?.slice(0, 6),
    'for',
    quote_amount,
    quote_mint?.slice(0, 6),
  ]
  return `${[...wanted, ...uiAmounts(expected)].filter((part) => part !== undefined).join(' ')} expected, ${list(swaps)} found`
}

/** Amounts that a source gives as decimal numbers, of any coin. */
function uiAmounts({ rows, asserts }: SourceExpectation): string[] {
  const fromRows = (rows ?? []).flatMap((row) => [row.received_amount, row.sent_amount])
  const fromAsserts = [asserts?.sourceAmount, asserts?.destinationAmount]
  return [...fromRows, ...fromAsserts].filter((amount) => amount !== undefined)
}

function isAmountOf(swap: Swap, amount: string): boolean {
  const quoteDecimals = swap.quoteMint === WSOL ? 9 : 6
  return (
    Math.abs(Number(amount) - Number(swap.baseAmount) / 10 ** swap.baseDecimals) < 1e-9 ||
    Math.abs(Number(amount) - Number(swap.quoteAmount) / 10 ** quoteDecimals) < 1e-9
  )
}

function transferDifference(
  { mint, amount }: SourceExpectation,
  events: readonly WalletEvent[],
): string | null {
  if (
    mint === undefined ||
    amount === undefined ||
    mint.startsWith('EPjF') ||
    mint.startsWith('Es9v')
  )
    return null
  const found = events.some((event) =>
    event.kind === 'token_transfer'
      ? event.mint === mint && String(event.amount) === amount
      : event.kind === 'sol_transfer' && mintOf(mint) === WSOL && String(event.lamports) === amount,
  )
  return found ? null : `a transfer of ${amount} expected, none found`
}

function mintOf(text: string): string {
  return text === 'SOL' ? WSOL : text
}

function list(swaps: readonly Swap[]): string {
  if (swaps.length === 0) return 'nothing'
  return swaps
    .map(
      (swap) =>
        `${swap.side} ${swap.baseAmount} ${swap.baseMint.slice(0, 6)} for ${swap.quoteAmount} ${swap.quoteMint?.slice(0, 6) ?? '-'}`,
    )
    .join(', ')
}
