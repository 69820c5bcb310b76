import { randomBytes } from 'node:crypto'
import type { AccountEvents } from '../accounts/account-events.ts'
import type { AccountChannel } from '../channel/account-channel.ts'
import type { Redis } from '../redis-connection.ts'
import type { SecretKeys } from '../secret-key.ts'
import type { ApiMetrics } from '../telemetry.ts'
import type { JwtKeys } from './jwt-keys.ts'
import { createLogin, type Login, MOST_USED_NONCES } from './login.ts'
import { createNonces } from './nonces.ts'
import type { Revocations } from './revocations.ts'
import type { SessionUses } from './session-uses.ts'
import { createTokens, type Tokens } from './tokens.ts'
import { createMemoryUsedNonces, createRedisUsedNonces } from './used-nonces.ts'

/** Dependencies of login and dashboard tokens. */
export interface SessionsDeps {
  readonly revocations: Revocations
  readonly channel: Pick<AccountChannel, 'loggedOut' | 'loggedOutEverywhere'>
  readonly events: Pick<AccountEvents, 'add' | 'count'>
  /** Records the sessions of logins. */
  readonly sessionUses: Pick<SessionUses, 'mark'>
  readonly metrics: Pick<ApiMetrics, 'logins'>
  /** Null if this is the only process. */
  readonly redis: Redis | null
  readonly secretKeys: SecretKeys
  readonly jwtKeys: () => JwtKeys
  /** Public URL of the API: the issuer of tokens, and the URI in sign-in messages. */
  readonly publicUrl: () => string
  readonly now: () => number
}

/**
 * Creates the login by a wallet's signature, and the dashboard tokens that it issues (rules E1,
 * E2).
 */
export function createSessions(deps: SessionsDeps): {
  readonly tokens: Tokens
  readonly login: Login
} {
  const { redis, secretKeys, jwtKeys, publicUrl, events, sessionUses, metrics, now } = deps
  const tokens = createTokens({
    keys: jwtKeys,
    issuer: publicUrl,
    now,
    revocations: announcedRevocations(deps),
  })
  const usedNonces = { limit: MOST_USED_NONCES, now }
  const login = createLogin({
    url: publicUrl,
    // Used nonces in memory are lost with the process. A random key invalidates its nonces as well.
    nonces: createNonces(redis === null ? [randomBytes(32)] : secretKeys),
    used:
      redis === null
        ? createMemoryUsedNonces(usedNonces)
        : createRedisUsedNonces(redis, 'used-nonces', usedNonces),
    tokens,
    onOutcome(outcome, { wallet, network }) {
      metrics.logins.inc({ outcome })
      if (outcome === 'ok') events.add(wallet, 'signed_in', network)
      else if (outcome === 'bad_signature') events.count(wallet, 'sign_in_failed', network)
    },
    onSession: (session, network) => sessionUses.mark(session, network),
    now,
  })
  return { tokens, login }
}

/**
 * Returns revocations that are also announced to every process. The announcement closes open
 * connections, so it is sent even if the revocation could not be written.
 */
function announcedRevocations({
  revocations,
  channel,
}: SessionsDeps): Parameters<typeof createTokens>[0]['revocations'] {
  return {
    has: (session) => revocations.has(session),
    generationOf: (wallet) => revocations.generationOf(wallet),
    async add(tokenId) {
      try {
        await revocations.add(tokenId)
      } finally {
        await channel.loggedOut(tokenId)
      }
    },
    async addAll(wallet) {
      const generation = await revocations.nextGeneration(wallet)
      try {
        await revocations.begin(wallet, generation)
      } finally {
        await channel.loggedOutEverywhere(wallet, generation)
      }
    },
  }
}
