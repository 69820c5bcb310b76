import { randomUUID } from 'node:crypto'
import { decodeProtectedHeader, errors, jwtVerify, SignJWT } from 'jose'
import { z } from 'zod'
import { type Address, parseAddress } from '../../pipeline/domain/address.ts'
import type { JwtKeys } from './jwt-keys.ts'
import type { Revocations } from './revocations.ts'
import { CLOCK_SKEW_SECONDS, type Session, TOKEN_SECONDS } from './session.ts'

/** Issues, verifies and revokes dashboard tokens (rule E2), and the keys of their sessions. */
export interface Tokens {
  /**
   * Starts a session, and returns it with its token. Rejects with `unavailable` when the wallet's
   * revocations are unknown.
   */
  issue(wallet: Address): Promise<{ readonly token: string; readonly session: Session }>
  /**
   * Returns the session of a token, or null if the text is not a valid token. Rejects with
   * `unavailable` when it is unknown whether the token was revoked.
   */
  verify(text: string): Promise<Session | null>
  /**
   * Issues a key for product data and the feed (rule L16). It has the id of the session's token, so
   * it expires and is revoked with it.
   */
  issueSessionKey(session: Session): Promise<string>
  /** Like `verify`, for a key of `issueSessionKey`. */
  verifySessionKey(text: string): Promise<Session | null>
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
  const { keys, revocations, now } = deps
  return {
    async issue(wallet) {
      const { signing, published } = keys()
      const session: Session = {
        wallet,
        tokenId: randomUUID(),
        verifiedBy: published.find(({ kid }) => kid === signing.kid)?.x ?? '',
        expiresAt: Math.floor(now() / 1000) + TOKEN_SECONDS,
        generation: await revocations.generationOf(wallet),
      }
      return { token: await sign(session, DASHBOARD, deps), session }
    },
    verify: (text) => verify(text, DASHBOARD, deps),
    issueSessionKey: (session) => sign(session, SESSION_KEY, deps),
    verifySessionKey: (text) => verify(text, SESSION_KEY, deps),
    isRevoked: async (session) =>
      !keys().published.some(({ x }) => x === session.verifiedBy) || revocations.has(session),
    revoke: ({ tokenId }) => revocations.add(tokenId),
    revokeAll: (wallet) => revocations.addAll(wallet),
  }
}

/** Whether text has the form of a session key. Whether it is valid, `verifySessionKey` says. */
export function isSessionKey(text: string): boolean {
  if (!isToken(text)) return false
  try {
    return decodeProtectedHeader(text).typ === SESSION_KEY.typ
  } catch {
    return false // not a token
  }
}

async function sign(
  { wallet, tokenId, expiresAt, generation }: Session,
  { typ, aud }: Kind,
  { keys, issuer, now }: TokenDeps,
): Promise<string> {
  const { signing } = keys()
  return new SignJWT(generation === 0 ? {} : { gen: generation })
    .setProtectedHeader({ alg: 'EdDSA', typ, kid: signing.kid })
    .setIssuer(issuer())
    .setAudience(aud)
    .setSubject(wallet)
    .setIssuedAt(Math.floor(now() / 1000))
    .setExpirationTime(expiresAt)
    .setJti(tokenId)
    .sign(signing.key)
}

async function verify(text: string, kind: Kind, deps: TokenDeps): Promise<Session | null> {
  const { revocations, now } = deps
  const token = await readToken(text, kind, deps)
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
}

/** Returns the verified payload of a token, and the key that verified it; null if it is invalid. */
async function readToken(text: string, { typ, aud }: Kind, { keys, issuer, now }: TokenDeps) {
  if (!isToken(text)) return null
  try {
    const { verifying, published } = keys()
    const keyOf = ({ kid = '' }) => {
      const key = verifying.get(kid)
      if (key === undefined) throw new errors.JWKSNoMatchingKey()
      return key
    }
    const { payload, protectedHeader } = await jwtVerify(text, keyOf, {
      algorithms: ['EdDSA'],
      typ,
      issuer: issuer(),
      audience: aud,
      requiredClaims: ['iss', 'aud', 'sub', 'iat', 'exp', 'jti'],
      currentDate: new Date(now()),
    })
    // A token with several audiences is refused.
    if (payload.aud !== aud) return null
    const verifiedBy = published.find(({ kid }) => kid === protectedHeader.kid)?.x ?? ''
    return { payload, verifiedBy }
  } catch (error) {
    if (error instanceof errors.JOSEError) return null
    throw error
  }
}

/** Text that cannot be a token, for example an API key, is not parsed. */
function isToken(text: string): boolean {
  return text.length <= MAX_LENGTH && /^[\w-]+\.[\w-]+\.[\w-]+$/.test(text)
}

/**
 * Kinds of tokens. Each has an explicit type (RFC 8725, section 3.11) and audience, so that no
 * other token signed with the same keys is accepted in its place.
 */
interface Kind {
  readonly typ: string
  readonly aud: string
}
const DASHBOARD: Kind = { typ: 'dashboard+jwt', aud: 'dashboard' }
const SESSION_KEY: Kind = { typ: 'session-key+jwt', aud: 'product' }
const MAX_LENGTH = 2048

/** Claims as this service writes them. */
const Claims = z.object({
  sub: z.string(),
  jti: z.uuid(),
  iat: z.int(),
  exp: z.int(),
  gen: z.int().min(0).default(0),
})
