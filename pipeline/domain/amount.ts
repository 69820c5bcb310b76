/** Lamports in one SOL. */
export const LAMPORTS_PER_SOL = 1_000_000_000n

/**
 * Returns the double nearest to the exact rational `numerator / denominator`, ties to even (rule
 * C20). All exact figures become numbers here and nowhere else. Throws a RangeError unless
 * `denominator` is above zero.
 */
export function nearestNumber(numerator: bigint, denominator: bigint): number {
  if (denominator <= 0n) throw new RangeError(`not a denominator: ${denominator}`)
  const magnitude = numerator < 0n ? -numerator : numerator
  if (magnitude === 0n) return 0
  // Two integers below 2^53 are exact doubles, and dividing them rounds once.
  if (magnitude <= MAX_SAFE && denominator <= MAX_SAFE)
    return Number(numerator) / Number(denominator)
  // The quotient has 61 bits or more, and its last bit records whether a remainder exists. `Number`
  // therefore rounds once, from the exact value.
  const shift = Math.max(0, 64 + bitLength(denominator) - bitLength(magnitude))
  const scaled = magnitude << BigInt(shift)
  const quotient = scaled / denominator
  const sticky = scaled % denominator === 0n ? 0n : 1n
  const value = Number(quotient | sticky) * 2 ** -shift
  return numerator < 0n ? -value : value
}

const MAX_SAFE = BigInt(Number.MAX_SAFE_INTEGER)

/** Bits of a positive integer, rounded up to whole hexadecimal digits. */
function bitLength(value: bigint): number {
  return 4 * value.toString(16).length
}
