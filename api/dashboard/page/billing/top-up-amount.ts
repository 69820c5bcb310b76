import {
  creditsForPayment,
  formatCredits,
  formatUnits,
  groupThousands,
  parseUnits,
  RATE_DECIMALS,
  unitsFromNumber,
} from '../amounts.ts'
import type { PlansResponse } from '../responses.ts'

/** The largest payment in raw units. A token transfer has a u64 amount. */
const MAX_UNITS = 2n ** 64n - 1n

/** An entered amount of USDT, and the message to show below the field. */
export interface TopUpAmount {
  /** Raw units. Null if the amount cannot be paid. */
  readonly units: bigint | null
  readonly message: string
}

/** Parses the amount of a top-up. It must be a number, buy a credit, and fit into a transfer. */
export function parseTopUpAmount(
  text: string,
  { usdt_decimals: decimals, credits_per_usdt: rate }: PlansResponse,
): TopUpAmount {
  const units = parseUnits(text, decimals)
  if (units === null)
    return {
      units: null,
      message: `Enter an amount such as 10 or 12.50, with at most ${decimals} decimals.`,
    }
  if (units > MAX_UNITS)
    return {
      units: null,
      message: `The maximum is ${groupThousands(MAX_UNITS / 10n ** BigInt(decimals))} USDT.`,
    }
  const credits = creditsForPayment(units, decimals, rate)
  if (credits === 0n)
    return {
      units: null,
      message: `The minimum is ${formatUnits(unitsOfOneCredit(decimals, rate), decimals)} USDT, the price of 1 credit.`,
    }
  return {
    units,
    message: `You get ${formatCredits(credits)}, at ${groupThousands(rate)} credits per USDT.`,
  }
}

/** Returns the smallest payment, in raw units, that gives a credit. */
function unitsOfOneCredit(decimals: number, rate: number): bigint {
  const rateUnits = unitsFromNumber(rate, RATE_DECIMALS) ?? 1n
  return (10n ** BigInt(decimals + RATE_DECIMALS) + rateUnits - 1n) / rateUnits
}
