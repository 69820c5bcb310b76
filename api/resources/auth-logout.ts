import { z } from 'zod'
import type { AccountEvents } from '../accounts/account-events.ts'
import type { Tokens } from '../auth/tokens.ts'
import { dashboardResource } from './resource.ts'

/** `POST /auth/logout`: revokes the token of the request (rule E1). */
export function authLogout({
  tokens,
  events,
}: {
  readonly tokens: Tokens
  readonly events: Pick<AccountEvents, 'add'>
}) {
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
