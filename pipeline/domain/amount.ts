/** Reads a raw amount: a decimal integer without sign. Throws a RangeError on any other text. */
export function parseRaw(text: string): bigint {
  if (!/^[0-9]+$/.test(text)) throw new RangeError(`not a raw amount: ${JSON.stringify(text)}`)
  return BigInt(text)
}

/** Lamports in one SOL. */
export const LAMPORTS_PER_SOL = 1_000_000_000n
