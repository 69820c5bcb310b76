import { type CallOptions, RestCalls } from './rest-calls.ts'

/**
 * Logs a wallet in, and returns its dashboard token, for `followViews`. `signMessage` signs with
 * the key of the wallet (Ed25519), as wallets do. Rejects with `Refused`.
 */
export async function logIn({
  url,
  wallet,
  signMessage,
  ...options
}: CallOptions & {
  readonly url: string
  /** Address of the wallet, base58. */
  readonly wallet: string
  readonly signMessage: (message: Uint8Array) => Uint8Array | Promise<Uint8Array>
}): Promise<string> {
  const calls = new RestCalls(url, null, options)
  const { message } = await calls.post<{ message: string }>('/auth/nonce', { wallet })
  const signature = base58Of(await signMessage(new TextEncoder().encode(message)))
  const { token } = await calls.post<{ token: string }>('/auth/login', {
    wallet,
    message,
    signature,
  })
  return token
}

const LETTERS = '123456789ABCDEFGHJKLMNPQRSTUVWXYZabcdefghijkmnopqrstuvwxyz'

/** Base58 text of bytes. The function of `pipeline/domain` needs `Buffer`, which browsers lack. */
function base58Of(bytes: Uint8Array): string {
  let text = ''
  let rest = bytes.reduce((value, byte) => value * 256n + BigInt(byte), 0n)
  for (; rest > 0n; rest /= 58n) text = LETTERS.charAt(Number(rest % 58n)) + text
  const zeros = bytes.findIndex((byte) => byte !== 0)
  return '1'.repeat(zeros === -1 ? bytes.length : zeros) + text
}
