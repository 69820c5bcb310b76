import { z } from 'zod'
import type { AccountEvents } from '../accounts/account-events.ts'
import { type Session, TOKEN_SECONDS } from '../auth/session.ts'
import type { SessionUse, SessionUses } from '../auth/session-uses.ts'
import type { Tokens } from '../auth/tokens.ts'
import { ApiError } from '../errors.ts'
import { componentSchema } from '../items/component-schema.ts'
import { time } from '../items/fields.ts'
import { dashboardResource } from './resource.ts'

interface SessionDeps {
  readonly sessionUses: Pick<SessionUses, 'list' | 'find'>
  readonly tokens: Pick<Tokens, 'isRevoked' | 'revoke' | 'issueSessionKey'>
  readonly events: Pick<AccountEvents, 'add'>
}

const SessionItem = z
  .strictObject({
    id: z.uuid().describe('Names the session, to revoke it'),
    created_at: time.describe('When the wallet signed in'),
    expires_at: time,
    last_used_at: time.describe('When it was last used; up to 10 s old'),
    network: z.string().meta({
      description: 'Network of its last use: IPv4 /24 or IPv6 /48, or `unknown`',
      examples: ['192.0.2.0/24', '2001:db8:1::/48'],
    }),
    is_current: z.boolean().describe('Whether it is the session of this request'),
  })
  .meta({ id: 'SessionItem', description: 'A login to the dashboard.' })

/** `GET /me/sessions`: the logins of the wallet that are valid (rule L15). */
export function meSessions({ sessionUses, tokens }: SessionDeps) {
  return dashboardResource({
    path: '/me/sessions',
    docs: {
      tag: 'Account',
      summary: 'The sessions of the wallet',
      description:
        'Logins to the dashboard whose token is valid, newest first: of the newest 100 logins. The list is up to 10 seconds behind. `POST /auth/logout-everywhere` ends all of them.',
      example: {
        items: [
          {
            id: '0f6d0c3a-5a0e-4a6d-8f3e-6a2b9d1c7e55',
            created_at: 1_790_000_000,
            expires_at: 1_790_043_200,
            last_used_at: 1_790_003_600,
            network: '192.0.2.0/24',
            is_current: true,
          },
        ],
      },
    },
    answer: componentSchema('SessionsAnswer', 'Sessions of a wallet.', {
      items: z.array(SessionItem).describe('Newest first'),
    }),
    async handle(_input, { wallet, tokenId }) {
      const uses = await sessionUses.list(wallet)
      const revoked = await Promise.all(uses.map((use) => tokens.isRevoked(use)))
      const valid = uses.filter((_, at) => !revoked[at])
      return { body: { items: valid.map((use) => sessionItem(use, tokenId)) } }
    },
  })
}

/** `DELETE /me/sessions/:id`: revokes the token of a session and its key. */
export function revokeSession({ sessionUses, tokens, events }: SessionDeps) {
  return dashboardResource({
    path: '/me/sessions/:id',
    method: 'DELETE',
    docs: {
      tag: 'Account',
      summary: 'Revoke a session',
      description:
        'Revokes the token of a login, and its session key, at once and in every process. Its dashboard connections of `/ws` are closed (`token_revoked`). It may be repeated.',
      problems: ['session_not_found'],
      statuses: [204],
      example: undefined,
    },
    params: z.object({ id: z.string().meta({ description: 'The `id` of the session' }) }),
    answer: z.undefined(),
    async handle({ params: { id } }, { wallet }, network) {
      const session = await sessionUses.find(wallet, id)
      if (session === null) throw new ApiError('session_not_found')
      events.add(wallet, 'session_revoked', network)
      await tokens.revoke(session)
      return { status: 204, body: undefined }
    },
  })
}

/** `POST /me/session-key`: a key for product data that ends with the session (rule L16). */
export function sessionKey({ tokens }: Pick<SessionDeps, 'tokens'>) {
  return dashboardResource({
    path: '/me/session-key',
    method: 'POST',
    docs: {
      tag: 'Account',
      summary: 'A key of this session for product data',
      description:
        'For dashboards: a key for the calls of an API key and for the channel `trades` of `/ws`, at the same prices. It ends with the session of this request. One feed connection with such a key is beside those of the API keys; a newer one supersedes it. It is not for programs, whose keys outlive a login.',
      example: { session_key: 'eyJhbGciOiJFZERTQSIsInR5cCI6...', expires_at: 1_790_043_200 },
    },
    answer: componentSchema('SessionKeyAnswer', 'A key of a session.', {
      session_key: z.string().describe('For `Authorization: Bearer <session_key>`'),
      expires_at: time,
    }),
    async handle(_input, session) {
      const session_key = await tokens.issueSessionKey(session)
      return { body: { session_key, expires_at: session.expiresAt } }
    },
  })
}

function sessionItem(use: SessionUse, currentId: Session['tokenId']): z.input<typeof SessionItem> {
  return {
    id: use.tokenId,
    created_at: use.expiresAt - TOKEN_SECONDS,
    expires_at: use.expiresAt,
    last_used_at: Math.floor(use.at / 1000),
    network: use.network,
    is_current: use.tokenId === currentId,
  }
}
