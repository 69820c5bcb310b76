import { randomUUID } from 'node:crypto'
import { errors, jwtVerify, SignJWT } from 'jose'
import { z } from 'zod'
import { type Address, parseAddress } from '../../pipeline/domain/address.ts'
import type { JwtKeys } from './jwt-keys.ts'
import type { Revocations } from './revocations.ts'
import { CLOCK_SKEW_SECONDS, type Session, TOKEN_SECONDS } from './session.ts'

/** Tokens of the dashboard (rule E2). */
export interface Tokens {
  /**
   * Rejects with `unavailable` when it cannot be told which tokens of the wallet were taken back.
   */
  issue(wallet: Address): Promise<{ readonly token: string; readonly expiresAt: number }>
  /**
   * The session of a token; null for everything that is no valid token of ours. Rejects with
   * `unavailable` when it cannot be told whether it was revoked.
   */
  verify(text: string): Promise<Session | null>
  /**
   * Whether a token was revoked, or the key that verified it removed. Rejects with `unavailable`
   * when it cannot be told.
   */
  isRevoked(session: Session): Promise<boolean>
  /** Makes a token invalid everywhere, at once. */
  revoke(session: Session): Promise<void>
  /** Makes every token of a wallet that was issued until now invalid everywhere, at once. */
  revokeAll(wallet: Address): Promise<void>
}

interface TokenDeps {
  readonly keys: () => JwtKeys
  readonly issuer: () => string
  readonly revocations: Pick<Revocations, 'has' | 'add' | 'generationOf'> & {
    addAll(wallet: Address): Promise<void>
  }
  readonly now: () => number
}

/**
 * EdDSA JSON Web Tokens by the rules of RFC 8725: one algorithm, whatever the token names; a type
 * of their own; issuer and audience checked; nothing but the key id is taken from the header.
 * `keys` are the keys in force, `issuer` is where clients find the API.
 */
export function createTokens(deps: TokenDeps): Tokens {
  const { keys, issuer, revocations, now } = deps
  return {
    async issue(wallet) {
      const issuedAt = Math.floor(now() / 1000)
      const expiresAt = issuedAt + TOKEN_SECONDS
      const { signing } = keys()
      const generation = await revocations.generationOf(wallet)
      const token = await new SignJWT(generation === 0 ? {} : { gen: generation })
        .setProtectedHeader({ alg: 'EdDSA', typ: TYPE, kid: signing.kid })
        .setIssuer(issuer())
        .setAudience(AUDIENCE)
        .setSubject(wallet)
        .setIssuedAt(issuedAt)
        .setExpirationTime(expiresAt)
        .setJti(randomUUID())
        .sign(signing.key)
      return { token, expiresAt }
    },
    async verify(text) {
      const token = await readToken(text, deps)
      const claims = Claims.safeParse(token?.payload)
      if (token === null || !claims.success) return null
      const { sub, jti, iat, exp, gen } = claims.data
      // Not left to jose, whose tolerance would be one of `exp` too.
      if (iat > now() / 1000 + CLOCK_SKEW_SECONDS || exp - iat > TOKEN_SECONDS) return null
      const wallet = parseAddress(sub)
      if (wallet === null) return null
      const { verifiedBy } = token
      const session = { wallet, tokenId: jti, verifiedBy, expiresAt: exp, generation: gen }
      return (await revocations.has(session)) ? null : session
    },
    isRevoked: async (session) =>
      !keys().published.some(({ x }) => x === session.verifiedBy) || revocations.has(session),
    revoke: ({ tokenId }) => revocations.add(tokenId),
    revokeAll: (wallet) => revocations.addAll(wallet),
  }
}

/** Returns the verified payload of a token, and the key that verified it; null if it is invalid. */
async function readToken(text: string, { keys, issuer, now }: TokenDeps) {
  // What cannot be one, as an API key, is not looked at further.
  if (text.length > MAX_LENGTH || !/^[\w-]+\.[\w-]+\.[\w-]+$/.test(text)) return null
  try {
    const { verifying, published } = keys()
    const keyOf = ({ kid = '' }) => {
      const key = verifying.get(kid)
      if (key === undefined) throw new errors.JWKSNoMatchingKey()
      return key
    }
    const { payload, protectedHeader } = await jwtVerify(text, keyOf, {
      algorithms: ['EdDSA'],
      typ: TYPE,
      issuer: issuer(),
      audience: AUDIENCE,
      requiredClaims: ['iss', 'aud', 'sub', 'iat', 'exp', 'jti'],
      currentDate: new Date(now()),
    })
    const verifiedBy = published.find(({ kid }) => kid === protectedHeader.kid)?.x ?? ''
    return { payload, verifiedBy }
  } catch (error) {
    if (error instanceof errors.JOSEError) return null
    throw error
  }
}

/**
 * RFC 8725 3.11: no other kind of token that the same keys may sign one day passes for one of
 * these.
 */
const TYPE = 'dashboard+jwt'
const AUDIENCE = 'dashboard'
const MAX_LENGTH = 2048

/** Claims as only we write them; a token with a list of audiences is for somebody else too. */
const Claims = z.object({
  aud: z.literal(AUDIENCE),
  sub: z.string(),
  jti: z.uuid(),
  iat: z.int(),
  exp: z.int(),
  gen: z.int().min(0).default(0),
})
