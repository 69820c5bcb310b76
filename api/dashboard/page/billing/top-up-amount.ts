import {
  creditsFor,
  creditsText,
  grouped,
  parseUnits,
  RATE_DECIMALS,
  unitsOfNumber,
  unitsText,
} from '../amounts.ts'
import type { Plans } from '../answers.ts'

/** What a transfer of a token can move at most: its amount is a u64 of smallest units. */
const MOST_UNITS = 2n ** 64n - 1n

/** What somebody wrote as an amount to pay, in smallest units, and what to say to it. `units` is null where it is not to be paid: it is no amount, would buy nothing, or cannot be sent. */
export function topUpAmount(
  text: string,
  { usdt_decimals: decimals, credits_per_usdt: rate }: Plans,
): { readonly units: bigint | null; readonly words: string } {
  const units = parseUnits(text, decimals)
  if (units === null)
    return {
      units,
      words: `Write an amount such as 10 or 12.50, with at most ${decimals} decimals.`,
    }
  if (units > MOST_UNITS)
    return {
      units: null,
      words: `That is more than one payment can be: ${grouped(MOST_UNITS / 10n ** BigInt(decimals))} USDT at most.`,
    }
  const credits = creditsFor(units, decimals, rate)
  if (credits === 0n)
    return {
      units: null,
      words: `That would buy nothing: the first credit comes with ${unitsText(unitsOfOneCredit(decimals, rate), decimals)} USDT.`,
    }
  return { units, words: `That is ${creditsText(credits)}, at ${grouped(rate)} for one USDT.` }
}

/** The fewest units that give a credit. */
function unitsOfOneCredit(decimals: number, rate: number): bigint {
  const credits = unitsOfNumber(rate, RATE_DECIMALS) ?? 1n
  return (10n ** BigInt(decimals + RATE_DECIMALS) + credits - 1n) / credits
}
