import type { Address } from '../../pipeline/domain/address.ts'
import { ApiError } from '../errors.ts'
import type { Nonces } from './nonces.ts'
import type { Session } from './session.ts'
import {
  faultOfSignIn,
  NONCE_MS,
  parseSignIn,
  type SignInFault,
  signInMessage,
} from './sign-in-message.ts'
import type { Tokens } from './tokens.ts'
import type { UsedNonces } from './used-nonces.ts'
import { isSignedBy, parseSignature } from './verify-signature.ts'

/** Outcomes of a login attempt, for a metric. They are never disclosed to the client. */
export type LoginOutcome =
  | 'ok'
  | 'no_message'
  | SignInFault
  | 'unknown_nonce'
  | 'bad_signature'
  | 'used_nonce'

/**
 * Sign-In With Solana (rule E1): a wallet proves its identity by signing a message that the service
 * issued.
 */
export interface Login {
  /**
   * Issues a message for the wallet to sign. It is valid for one login within five minutes.
   * `expiresAt` is in unix seconds.
   */
  nonce(wallet: Address): Promise<{ nonce: string; message: string; expiresAt: number }>
  /**
   * Returns a token for the wallet that signed the message. Rejects with `invalid_signature` for
   * any fault of the attempt, and with `unavailable` as `UsedNonces.use` does.
   */
  login(attempt: LoginAttempt): Promise<{ token: string; expiresAt: number }>
}

export interface LoginAttempt {
  readonly wallet: Address
  readonly message: string
  readonly signature: string
  /** The network of the client: see `networkOf`. */
  readonly network: string
}

/** `url`: where clients find the API. `used` keeps at most `MOST_USED_NONCES` nonces. */
export function createLogin(deps: {
  readonly url: () => string
  readonly nonces: Nonces
  readonly used: UsedNonces
  readonly tokens: Pick<Tokens, 'issue'>
  readonly onOutcome: (outcome: LoginOutcome, attempt: LoginAttempt) => void
  /** Called with each new session, and the network of the client. */
  readonly onSession: (session: Session, network: string) => void
  readonly now: () => number
}): Login {
  const { url, nonces, used, tokens, onOutcome, onSession, now } = deps
  return {
    async nonce(wallet) {
      const issuedAt = now()
      const expiresAt = issuedAt + NONCE_MS
      const nonce = nonces.make({ wallet, issuedAt, expiresAt })
      const message = signInMessage({ url: url(), wallet, nonce, issuedAt })
      return { nonce, message, expiresAt: Math.floor(expiresAt / 1000) }
    },
    async login(attempt) {
      const outcome = await judge(attempt)
      onOutcome(outcome, attempt)
      if (outcome !== 'ok') throw new ApiError('invalid_signature')
      const { token, session } = await tokens.issue(attempt.wallet)
      onSession(session, attempt.network)
      return { token, expiresAt: session.expiresAt }
    },
  }

  async function judge({ wallet, message: text, signature }: LoginAttempt): Promise<LoginOutcome> {
    const message = parseSignIn(text)
    if (message === null) return 'no_message'
    const fault = faultOfSignIn(message, { url: url(), wallet, now: now() })
    if (fault !== null) return fault
    const { nonce = '', issuedAt: issued = '', expirationTime: expires = '' } = message
    const [issuedAt, expiresAt] = [Date.parse(issued), Date.parse(expires)]
    if (!nonces.isOurs(nonce, { wallet, issuedAt, expiresAt })) return 'unknown_nonce'
    const bytes = parseSignature(signature)
    if (bytes === null || !isSignedBy(wallet, Buffer.from(text), bytes)) return 'bad_signature'
    // Last, so that only the owner of the wallet can use up its nonce or fill the set of used ones.
    return (await used.use(nonce, issuedAt)) ? 'ok' : 'used_nonce'
  }
}

/**
 * Capacity of the set of used nonces, so the most logins in five minutes. Further logins are
 * refused.
 */
export const MOST_USED_NONCES = 100_000
