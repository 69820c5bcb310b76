const ALPHABET = '123456789ABCDEFGHJKLMNPQRSTUVWXYZabcdefghijkmnopqrstuvwxyz'

/** Whether a text is a token address that the service accepts: base58 of 32 bytes. */
export function isTokenAddress(text: string): boolean {
  if (!/^[1-9A-HJ-NP-Za-km-z]{32,44}$/.test(text)) return false
  let rest = 0n
  for (const letter of text) rest = rest * 58n + BigInt(ALPHABET.indexOf(letter))
  let bytes = text.length - text.replace(/^1+/, '').length // each leading `1` is a zero byte
  for (; rest > 0n; rest >>= 8n) bytes++
  return bytes === 32
}

/** Whether a text has the form of a wallet alias (rule D2). The wallet need not be tracked. */
export function isAlias(text: string): boolean {
  return /^W[1-9][0-9]{0,8}$/.test(text)
}
