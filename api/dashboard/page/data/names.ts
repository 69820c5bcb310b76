const ALPHABET = '123456789ABCDEFGHJKLMNPQRSTUVWXYZabcdefghijkmnopqrstuvwxyz'

/** Whether a text is an address as the service takes it: base58 of 32 bytes. */
export function isTokenAddress(text: string): boolean {
  if (!/^[1-9A-HJ-NP-Za-km-z]{32,44}$/.test(text)) return false
  let rest = 0n
  for (const letter of text) rest = rest * 58n + BigInt(ALPHABET.indexOf(letter))
  let bytes = text.length - text.replace(/^1+/, '').length // a zero byte in front is a `1`
  for (; rest > 0n; rest >>= 8n) bytes++
  return bytes === 32
}

/** Whether a text is the alias of a wallet, tracked or not (rule D2). */
export function isAlias(text: string): boolean {
  return /^W[1-9][0-9]{0,8}$/.test(text)
}
