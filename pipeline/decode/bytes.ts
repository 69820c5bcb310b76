/** The little-endian u64 at `offset`; missing bytes count as 0. Callers check the length first. */
export function readU64(data: Uint8Array, offset: number): bigint {
  const low = readU32(data, offset)
  const high = readU32(data, offset + 4)
  // A number is exact up to 2^53, and one conversion is cheaper than a shift and a sum.
  return high < 0x200000 ? BigInt(high * 0x1_0000_0000 + low) : (BigInt(high) << 32n) | BigInt(low)
}

/** The little-endian u32 at `offset`; missing bytes count as 0. */
export function readU32(data: Uint8Array, offset: number): number {
  return (
    ((data[offset] ?? 0) |
      ((data[offset + 1] ?? 0) << 8) |
      ((data[offset + 2] ?? 0) << 16) |
      ((data[offset + 3] ?? 0) << 24)) >>>
    0
  )
}

/** Whether `data` begins with `prefix`. */
export function startsWith(data: Uint8Array, prefix: Uint8Array): boolean {
  if (data.length < prefix.length) return false
  for (let i = 0; i < prefix.length; i++) if (data[i] !== prefix[i]) return false
  return true
}

/** Whether two byte arrays are equal. */
export function sameBytes(a: Uint8Array, b: Uint8Array): boolean {
  return a.length === b.length && startsWith(a, b)
}
