import { z } from 'zod'
import type { AccountEvents } from '../accounts/account-events.ts'
import type { Tokens } from '../auth/tokens.ts'
import { dashboardResource } from './resource.ts'

interface LogoutDeps {
  readonly tokens: Tokens
  readonly events: Pick<AccountEvents, 'add'>
}

/** `POST /auth/logout`: revokes the token of the request (rule E1). */
export function authLogout({ tokens, events }: LogoutDeps) {
  return dashboardResource({
    path: '/auth/logout',
    method: 'POST',
    docs: {
      tag: 'Login',
      summary: 'Log out',
      description: 'Revokes the token of this request, at once and in every process.',
      statuses: [204],
      example: undefined,
    },
    answer: z.undefined(),
    async handle(_input, session, network) {
      events.add(session.wallet, 'signed_out', network)
      await tokens.revoke(session)
      return { status: 204, body: undefined }
    },
  })
}

/** `POST /auth/logout-everywhere`: revokes every token issued to the wallet until now. */
export function authLogoutEverywhere({ tokens, events }: LogoutDeps) {
  return dashboardResource({
    path: '/auth/logout-everywhere',
    method: 'POST',
    docs: {
      tag: 'Login',
      summary: 'Revoke every token of the wallet',
      description:
        'Revokes every dashboard token issued to the wallet until now, at once and in every process, including the token of this request. Dashboard connections of `/ws` with such a token are closed (`token_revoked`). A token of a later login is valid. The API key and its feed connections stay: `POST /me/api/rotate` replaces the key.',
      statuses: [204],
      example: undefined,
    },
    answer: z.undefined(),
    async handle(_input, { wallet }, network) {
      events.add(wallet, 'signed_out_everywhere', network)
      await tokens.revokeAll(wallet)
      return { status: 204, body: undefined }
    },
  })
}
