import { randomBytes } from 'node:crypto'
import bs58 from 'bs58'
import type { Address } from '../../pipeline/domain/address.ts'
import { ApiError } from '../errors.ts'
import type { ExpiringSet } from './expiring-set.ts'
import {
  faultOfSignIn,
  NONCE_MS,
  parseSignIn,
  type SignInFault,
  signInMessage,
} from './sign-in-message.ts'
import type { Tokens } from './tokens.ts'
import { isSignedBy, parseSignature } from './verify-signature.ts'

/** How an attempt to log in ended; a closed set, for counting. The client is never told which. */
export type LoginOutcome = 'ok' | 'no_message' | SignInFault | 'unknown_nonce' | 'bad_signature'

/** Sign-In With Solana (decisions E1): a wallet proves by a signature over a message that we handed out that it is there. */
export interface Login {
  /** A message for the wallet to sign, good once and for five minutes; `expiresAt` in unix seconds. */
  nonce(wallet: Address): Promise<{ nonce: string; message: string; expiresAt: number }>
  /** A token for who signed the message. Rejects with `invalid_signature`, whatever is wrong. */
  login(attempt: {
    readonly wallet: Address
    readonly message: string
    readonly signature: string
  }): Promise<{ token: string; expiresAt: number }>
}

/** `url`: where clients find the API. `nonces`: see `MOST_NONCES`. */
export function createLogin(deps: {
  readonly url: () => string
  readonly nonces: ExpiringSet
  readonly tokens: Pick<Tokens, 'issue'>
  readonly onOutcome: (outcome: LoginOutcome) => void
  readonly now: () => number
}): Login {
  const { url, nonces, tokens, onOutcome, now } = deps
  return {
    async nonce(wallet) {
      const nonce = bs58.encode(randomBytes(16))
      const issuedAt = now()
      const expires = issuedAt + NONCE_MS
      await nonces.add(member(wallet, nonce), expires)
      const message = signInMessage({ url: url(), wallet, nonce, issuedAt })
      return { nonce, message, expiresAt: Math.floor(expires / 1000) }
    },
    async login(attempt) {
      const outcome = await judge(attempt)
      onOutcome(outcome)
      if (outcome !== 'ok') throw new ApiError('invalid_signature')
      return tokens.issue(attempt.wallet)
    },
  }

  async function judge({
    wallet,
    message: text,
    signature,
  }: Parameters<Login['login']>[0]): Promise<LoginOutcome> {
    const message = parseSignIn(text)
    if (message === null) return 'no_message'
    const fault = faultOfSignIn(message, { url: url(), wallet, now: now() })
    if (fault !== null) return fault
    // Taken before anything costs: a nonce is good for one attempt.
    if (!(await nonces.take(member(wallet, message.nonce ?? '')))) return 'unknown_nonce'
    const bytes = parseSignature(signature)
    const isSigned = bytes !== null && isSignedBy(wallet, Buffer.from(text), bytes)
    return isSigned ? 'ok' : 'bad_signature'
  }
}

/** Nonces at a time; more than that many in five minutes push out the oldest. */
export const MOST_NONCES = 100_000

/** A nonce is bound to its wallet: with another it is not known. */
function member(wallet: Address, nonce: string): string {
  return `${wallet} ${nonce}`
}
