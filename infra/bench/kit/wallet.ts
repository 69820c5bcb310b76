import { generateKeyPairSync, sign } from 'node:crypto'
import bs58 from 'bs58'

/** A customer's wallet. */
export function createWallet() {
  const { publicKey, privateKey } = generateKeyPairSync('ed25519')
  const { x = '' } = publicKey.export({ format: 'jwk' })
  return {
    address: bs58.encode(Buffer.from(x, 'base64url')),
    signText: (text: string) => bs58.encode(sign(null, Buffer.from(text), privateKey)),
  }
}
