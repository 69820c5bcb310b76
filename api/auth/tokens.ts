import { randomUUID } from 'node:crypto'
import { errors, jwtVerify, SignJWT } from 'jose'
import { z } from 'zod'
import { type Address, parseAddress } from '../../pipeline/domain/address.ts'
import type { JwtKeys } from './jwt-keys.ts'
import type { Revocations } from './revocations.ts'
import { CLOCK_SKEW_SECONDS, type Session, TOKEN_SECONDS } from './session.ts'

/** Issues, verifies and revokes dashboard tokens (rule E2). */
export interface Tokens {
  /** Rejects with `unavailable` when the wallet's revocations are unknown. */
  issue(wallet: Address): Promise<{ readonly token: string; readonly expiresAt: number }>
  /**
   * Returns the session of a token, or null if the text is not a valid token. Rejects with
   * `unavailable` when it is unknown whether the token was revoked.
   */
  verify(text: string): Promise<Session | null>
  /**
   * Whether the token was revoked, or the key that verified it was removed. Rejects with
   * `unavailable` when this is unknown.
   */
  isRevoked(session: Session): Promise<boolean>
  /** Invalidates a token at once, in every process. */
  revoke(session: Session): Promise<void>
  /** Invalidates every token issued to a wallet until now, at once, in every process. */
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
 * Creates EdDSA JSON Web Tokens by RFC 8725. The algorithm is fixed, whatever the token's header
 * says. Type, issuer and audience are checked. The key id is the only header that is used to
 * verify. `keys` returns the current keys, `issuer` the URL of the API.
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
      // Checked here, because the clock tolerance of jose would apply to `exp` too.
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
  // Text that cannot be a token, for example an API key, is not parsed.
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
 * An explicit type (RFC 8725, section 3.11), so that no other token signed with the same keys is
 * accepted here.
 */
const TYPE = 'dashboard+jwt'
const AUDIENCE = 'dashboard'
const MAX_LENGTH = 2048

/** Claims as this service writes them. A token with several audiences is refused. */
const Claims = z.object({
  aud: z.literal(AUDIENCE),
  sub: z.string(),
  jti: z.uuid(),
  iat: z.int(),
  exp: z.int(),
  gen: z.int().min(0).default(0),
})
