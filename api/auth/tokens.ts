import { randomUUID } from 'node:crypto'
import { errors, jwtVerify, SignJWT } from 'jose'
import { z } from 'zod'
import { type Address, parseAddress } from '../../pipeline/domain/address.ts'
import type { JwtKeys } from './jwt-keys.ts'
import type { Revocations } from './revocations.ts'

/** Who is logged in, and by which token. */
export interface Session {
  readonly wallet: Address
  /** The token's `jti`. */
  readonly tokenId: string
  /** Unix seconds. */
  readonly expiresAt: number
}

/** Tokens of the dashboard (decisions E2). */
export interface Tokens {
  issue(wallet: Address): Promise<{ readonly token: string; readonly expiresAt: number }>
  /** The session of a token; null for everything that is no valid token of ours. Rejects with `unavailable` when it cannot be told whether it was revoked. */
  verify(text: string): Promise<Session | null>
  /** Whether a token was taken back. Rejects with `unavailable` when it cannot be told. */
  isRevoked(session: Pick<Session, 'tokenId'>): Promise<boolean>
  /** Makes a token invalid everywhere, at once. */
  revoke(session: Session): Promise<void>
}

/** How long a token lives, in seconds. */
export const TOKEN_SECONDS = 12 * 3600
/** How far the clock of the process that issued a token may be ahead, in seconds. */
export const CLOCK_SKEW_SECONDS = 5

/**
 * EdDSA JSON Web Tokens by the rules of RFC 8725: one algorithm, whatever the token names; a type of their own; issuer and audience checked; nothing but the key id is
 * taken from the header. `issuer`: where clients find the API.
 */
export function createTokens(deps: {
  readonly keys: JwtKeys
  readonly issuer: () => string
  readonly revocations: Pick<Revocations, 'has' | 'add'>
  readonly now: () => number
}): Tokens {
  const { keys, issuer, revocations, now } = deps
  return {
    async issue(wallet) {
      const issuedAt = Math.floor(now() / 1000)
      const expiresAt = issuedAt + TOKEN_SECONDS
      const token = await new SignJWT()
        .setProtectedHeader({ alg: 'EdDSA', typ: TYPE, kid: keys.signing.kid })
        .setIssuer(issuer())
        .setAudience(AUDIENCE)
        .setSubject(wallet)
        .setIssuedAt(issuedAt)
        .setExpirationTime(expiresAt)
        .setJti(randomUUID())
        .sign(keys.signing.key)
      return { token, expiresAt }
    },
    async verify(text) {
      const claims = Claims.safeParse(await read(text))
      if (!claims.success) return null
      const { sub, jti, iat, exp } = claims.data
      // Not left to jose, whose tolerance would be one of `exp` too.
      if (iat > now() / 1000 + CLOCK_SKEW_SECONDS || exp - iat > TOKEN_SECONDS) return null
      const wallet = parseAddress(sub)
      if (wallet === null || (await revocations.has(jti))) return null
      return { wallet, tokenId: jti, expiresAt: exp }
    },
    isRevoked: ({ tokenId }) => revocations.has(tokenId),
    revoke: ({ tokenId }) => revocations.add(tokenId),
  }

  async function read(text: string) {
    // What cannot be one, as an API key, is not looked at further.
    if (text.length > MAX_LENGTH || !/^[\w-]+\.[\w-]+\.[\w-]+$/.test(text)) return null
    try {
      const { payload } = await jwtVerify(text, ({ kid = '' }) => keyOf(kid), {
        algorithms: ['EdDSA'],
        typ: TYPE,
        issuer: issuer(),
        audience: AUDIENCE,
        requiredClaims: ['iss', 'aud', 'sub', 'iat', 'exp', 'jti'],
        currentDate: new Date(now()),
      })
      return payload
    } catch (error) {
      if (error instanceof errors.JOSEError) return null
      throw error
    }
  }

  function keyOf(kid: string) {
    const key = keys.verifying.get(kid)
    if (key === undefined) throw new errors.JWKSNoMatchingKey()
    return key
  }
}

/** RFC 8725 3.11: no other kind of token that the same keys may sign one day passes for one of these. */
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
})
