import { z } from 'zod'
import type { Login } from '../auth/login.ts'
import { componentSchema } from '../items/component-schema.ts'
import { time } from '../items/fields.ts'
import { walletMember } from './parameters.ts'
import { resource } from './resource.ts'

const LoginAnswer = componentSchema('LoginAnswer', 'The wallet that is logged in, and its token.', {
  token: z.string().describe('For `Authorization: Bearer <token>`'),
  token_type: z.literal('Bearer'),
  expires_at: time,
  wallet: z.string(),
})

/**
 * `POST /auth/login`: a token for the wallet that signed the message of `POST /auth/nonce` (rules
 * E1, E2).
 */
export function authLogin({ login }: { readonly login: Login }) {
  return resource({
    path: '/auth/login',
    method: 'POST',
    price: null,
    isLogin: true,
    docs: {
      tag: 'Login',
      summary: 'Log in with a signed message',
      description:
        '`message` is the signed text: that of `/auth/nonce`, or what the wallet made of its fields (`new TextDecoder().decode(output.signedMessage)`). `signature` is 64 bytes in base58 or base64. The token is valid for `/me` and `/billing`, for 12 hours. Each message is valid for one login. Any fault is `invalid_signature`.',
      problems: ['invalid_signature'],
      requestExample: { wallet: WALLET, message: MESSAGE, signature: SIGNATURE },
      example: {
        token: 'eyJhbGciOiJFZERTQSIsInR5cCI6ImRhc2hib2FyZCtqd3QiLCJraWQiOiIuLi4ifQ.eyJ...',
        token_type: 'Bearer',
        expires_at: 1795305600,
        wallet: WALLET,
      },
    },
    requestBody: z.object({
      wallet: walletMember,
      message: z.string(),
      signature: z.string().describe('64 bytes, base58 or base64'),
    }),
    answer: LoginAnswer,
    async handle({ body }, { network = 'unknown' }) {
      const { token, expiresAt } = await login.login({ ...body, network })
      return {
        body: {
          token,
          token_type: 'Bearer' as const,
          expires_at: expiresAt,
          wallet: body.wallet,
        },
        headers: { 'Cache-Control': 'no-store' },
      }
    },
  })
}

const WALLET = '9WzDXwBbmkg8ZTbNMqUxvQRAyrZzDsGYdLVL9zYtAWWM'
const MESSAGE = 'api.example wants you to sign in with your Solana account:\n...'
const SIGNATURE =
  '2pH9DqD5rve2qV4yBDshcAjWd2y8TqMx8BPb7f3KoNnuLEhE5JwjruYi4jaFaD4HN6wriLz2Vdr32kRBAJmHcyny'
