import { encodeBase58 } from '../../pipeline/domain/base58.ts'
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
  const signature = encodeBase58(await signMessage(new TextEncoder().encode(message)))
  const { token } = await calls.post<{ token: string }>('/auth/login', {
    wallet,
    message,
    signature,
  })
  return token
}
