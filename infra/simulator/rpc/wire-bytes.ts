import type { SubscribeUpdateTransactionInfo } from '@triton-one/yellowstone-grpc'

/**
 * The transaction's wire bytes: signatures, then the message (legacy or version 0), lengths as
 * compact-u16.
 */
export function wireBytes(info: SubscribeUpdateTransactionInfo): Buffer {
  const { signatures, message } = info.transaction!
  const { header } = message!
  const list = <T>(items: readonly T[], write: (item: T) => Uint8Array) =>
    Buffer.concat([compactU16(items.length), ...items.map(write)])
  const bytesOf = (value: Uint8Array) => Buffer.concat([compactU16(value.length), value])
  const parts = [
    list(signatures, (signature) => signature),
    message!.versioned ? Buffer.of(0x80) : Buffer.alloc(0),
    Buffer.of(
      header!.numRequiredSignatures,
      header!.numReadonlySignedAccounts,
      header!.numReadonlyUnsignedAccounts,
    ),
    list(message!.accountKeys, (key) => key),
    message!.recentBlockhash,
    list(message!.instructions, (instruction) =>
      Buffer.concat([
        Buffer.of(instruction.programIdIndex),
        bytesOf(instruction.accounts),
        bytesOf(instruction.data),
      ]),
    ),
  ]
  if (message!.versioned) {
    parts.push(
      list(message!.addressTableLookups, (lookup) =>
        Buffer.concat([
          lookup.accountKey,
          bytesOf(lookup.writableIndexes),
          bytesOf(lookup.readonlyIndexes),
        ]),
      ),
    )
  }
  return Buffer.concat(parts)
}

function compactU16(value: number): Buffer {
  const out: number[] = []
  let rest = value
  while (rest >= 0x80) {
    out.push((rest & 0x7f) | 0x80)
    rest >>= 7
  }
  out.push(rest)
  return Buffer.from(out)
}
