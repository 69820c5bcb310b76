import { z } from 'zod'
import type { Login } from '../auth/login.ts'
import { STATEMENT } from '../auth/sign-in-message.ts'
import { componentSchema } from '../items/component-schema.ts'
import { time } from '../items/fields.ts'
import { walletMember } from './parameters.ts'
import { resource } from './resource.ts'

const NonceAnswer = componentSchema('NonceAnswer', 'A message for the wallet to sign.', {
  nonce: z.string(),
  message: z.string().describe('The text to sign, unchanged, as UTF-8'),
  expires_at: time.describe('When the message expires'),
})

/** `POST /auth/nonce`: the message by which a wallet logs in (rule E1). */
export function authNonce({ login }: { readonly login: Login }) {
  return resource({
    path: '/auth/nonce',
    method: 'POST',
    price: null,
    isLogin: true,
    docs: {
      tag: 'Login',
      summary: 'A message for the wallet to sign',
      description:
        'Sign-In With Solana. Pass `message` to `signMessage` of the wallet, or its fields to `signIn`. The message is valid for one login of this wallet, within five minutes. Signing sends no transaction. `/auth/nonce` and `/auth/login` together allow 10 requests a minute for each client address (IPv6: each /64, and 100 for each /48) and for each wallet.',
      requestExample: { wallet: WALLET },
      example: {
        nonce: 'MvjZFHvnbkJvqgNHhfBBjN',
        message: [
          'api.example wants you to sign in with your Solana account:',
          ...[WALLET, '', STATEMENT, ''],
          ...['URI: https://api.example', 'Version: 1', 'Chain ID: mainnet'],
          'Nonce: MvjZFHvnbkJvqgNHhfBBjN',
          'Issued At: 2026-11-21T12:00:00.000Z',
          'Expiration Time: 2026-11-21T12:05:00.000Z',
        ].join('\n'),
        expires_at: 1795262700,
      },
    },
    requestBody: z.object({ wallet: walletMember }),
    answer: NonceAnswer,
    async handle({ body: { wallet } }) {
      const { nonce, message, expiresAt } = await login.nonce(wallet)
      return { body: { nonce, message, expires_at: expiresAt }, headers: NOT_STORED }
    },
  })
}

const WALLET = '9WzDXwBbmkg8ZTbNMqUxvQRAyrZzDsGYdLVL9zYtAWWM'
const NOT_STORED = { 'Cache-Control': 'no-store' }
