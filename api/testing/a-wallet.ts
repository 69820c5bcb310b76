import { generateKeyPairSync, sign } from 'node:crypto'
import type { SolanaSignInInput, SolanaSignInOutput } from '@solana/wallet-standard-features'
import { createSignInMessage } from '@solana/wallet-standard-util'
import bs58 from 'bs58'
import { type Address, addressFromBytes } from '../../pipeline/domain/address.ts'
import { ask } from './ask.ts'

/** A customer's wallet with its own key pair. */
export function newWallet() {
  const { publicKey, privateKey } = generateKeyPairSync('ed25519')
  const { x = '' } = publicKey.export({ format: 'jwk' })
  const publicBytes = Buffer.from(x, 'base64url')
  const wallet: Address = addressFromBytes(publicBytes)
  const signBytes = (bytes: Uint8Array) => new Uint8Array(sign(null, bytes, privateKey))
  return {
    address: wallet,
    signBytes,
    /** The result of `signMessage`, in base58. */
    signText: (text: string) => bs58.encode(signBytes(Buffer.from(text))),
    /** The result of `signIn` of the Wallet Standard: the wallet writes the text. */
    signIn(input: SolanaSignInInput): Pick<SolanaSignInOutput, 'signedMessage' | 'signature'> {
      const domain = input.domain ?? 'where.the.page.is'
      const signedMessage = createSignInMessage({ ...input, domain, address: wallet })
      return { signedMessage, signature: signBytes(signedMessage) }
    },
  }
}

export type TestWallet = ReturnType<typeof newWallet>

/** Logs a wallet in, and returns its token. */
export async function tokenOf(
  api: { readonly url: string },
  wallet: { readonly address: string; signText(text: string): string },
): Promise<string> {
  const { message } = (await post(api, '/auth/nonce', { wallet: wallet.address })).body
  const signature = wallet.signText(String(message))
  const { body } = await post(api, '/auth/login', { wallet: wallet.address, message, signature })
  return String(body.token)
}

/** Posts a JSON body. */
export function post(api: { readonly url: string }, path: string, body: unknown, token?: string) {
  return ask(api, path, token, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify(body),
  })
}
