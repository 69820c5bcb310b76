/** A transaction as signed; of its instructions those of the message, with program and accounts as indexes. */
export interface WireTransaction {
  /** The first signature, 64 bytes. */
  readonly signature: Uint8Array
  /** The message's own account keys; looked-up ones are known to the node alone. */
  readonly keys: readonly Uint8Array[]
  readonly signerCount: number
  readonly instructions: readonly WireInstruction[]
}

export interface WireInstruction {
  readonly programIdIndex: number
  readonly accounts: Uint8Array
  readonly data: Uint8Array
}

/**
 * Reads the bytes of a legacy or version 0 transaction; null when they are cut short, too long or of another version.
 * Layout (solana-sdk `transaction`, `message`, `short_vec`): signatures (compact-u16 count, 64 bytes each); version 0x80 if
 * versioned; header of three u8 (signers, read-only signers, read-only others); keys (compact-u16, 32 bytes each); blockhash,
 * 32 bytes; instructions (compact-u16: program u8, accounts compact-u16 + u8 each, data compact-u16 + bytes); version 0:
 * look-ups (compact-u16: table key, writable and read-only indexes, compact-u16 + u8 each).
 */
export function readWireTransaction(bytes: Uint8Array): WireTransaction | null {
  let at = 0
  const take = (length: number): Uint8Array => {
    at += length
    return bytes.subarray(at - length, at)
  }
  const count = (): number => {
    let value = 0
    for (let shift = 0; shift < 21; shift += 7) {
      const byte = bytes[at++] ?? 0
      value |= (byte & 0x7f) << shift
      if (byte < 0x80) break
    }
    return value
  }
  const several = <T>(read: () => T): T[] => {
    const items: T[] = []
    for (let left = count(); left > 0 && at <= bytes.length; left--) items.push(read())
    return items
  }

  const signatures = several(() => take(64))
  const version = bytes[at] ?? 0
  if (version > 0x80) return null
  if (version === 0x80) at++
  const signerCount = take(3)[0] ?? 0
  const keys = several(() => take(32))
  take(32)
  const instructions = several(() => ({
    programIdIndex: take(1)[0] ?? 0,
    accounts: take(count()),
    data: take(count()),
  }))
  if (version === 0x80) several(() => [take(32), take(count()), take(count())])
  const signature = signatures[0]
  if (at !== bytes.length || signature === undefined) return null
  if (signerCount < 1 || signerCount > keys.length) return null
  return { signature, keys, signerCount, instructions }
}
