/** A signed transaction in Solana's wire format, without a status. */
export interface WireTransaction {
  /** The first signature, 64 bytes. */
  readonly signature: Uint8Array
  /** The message's own account keys. Keys of lookup tables are not in the transaction. */
  readonly keys: readonly Uint8Array[]
  readonly signerCount: number
  readonly instructions: readonly WireInstruction[]
}

/** A top-level instruction. Program and accounts are indexes of account keys. */
export interface WireInstruction {
  readonly programIdIndex: number
  readonly accounts: Uint8Array
  readonly data: Uint8Array
}

/**
 * Reads a legacy or version 0 transaction; null when the bytes are too short, too long or of
 * another version. Layout (solana-sdk `transaction`, `message`, `short_vec`), where a list is a
 * compact-u16 count and its items:
 * - list of signatures, 64 bytes each;
 * - u8 0x80, in version 0 only;
 * - header: u8 signers, u8 readonly signers, u8 readonly others;
 * - list of keys, 32 bytes each;
 * - blockhash, 32 bytes;
 * - list of instructions: u8 program, list of u8 accounts, list of data bytes;
 * - list of lookups, in version 0 only: table key, list of writable u8, list of readonly u8.
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
