const ALPHABET = '123456789ABCDEFGHJKLMNPQRSTUVWXYZabcdefghijkmnopqrstuvwxyz'

/** Encodes bytes in base58. Each leading zero byte is a `1`. */
export function encodeBase58(bytes: Uint8Array): string {
  let text = ''
  for (let rest = integerOf(bytes); rest > 0n; rest /= 58n)
    text = ALPHABET[Number(rest % 58n)] + text
  const zeros = bytes.findIndex((byte) => byte !== 0)
  return '1'.repeat(zeros === -1 ? bytes.length : zeros) + text
}

/** Decodes an address to its 32 bytes. Throws a RangeError if the text is not an address. */
export function decodeAddress(text: string): Uint8Array<ArrayBuffer> {
  let rest = 0n
  for (const letter of text) {
    const digit = ALPHABET.indexOf(letter)
    if (digit === -1) throw new RangeError('an address is written in base58')
    rest = rest * 58n + BigInt(digit)
  }
  const bytes = new Uint8Array(32)
  for (let at = 31; at >= 0; at--, rest >>= 8n) bytes[at] = Number(rest & 255n)
  if (encodeBase58(bytes) !== text) throw new RangeError('an address has 32 bytes')
  return bytes
}

/** Reads bytes as a big-endian integer. */
function integerOf(bytes: Uint8Array): bigint {
  return bytes.reduce((sum, byte) => (sum << 8n) | BigInt(byte), 0n)
}
