import { z } from 'zod'
import type { AccountEvents } from '../accounts/account-events.ts'
import type { Tokens } from '../auth/tokens.ts'
import { NONE } from './parameters.ts'
import { dashboardResource } from './resource.ts'

/** `POST /auth/logout-everywhere`: revokes every token of the wallet that was issued until now. */
export function authLogoutEverywhere({
  tokens,
  events,
}: {
  readonly tokens: Tokens
  readonly events: Pick<AccountEvents, 'add'>
}) {
  return dashboardResource({
    path: '/auth/logout-everywhere',
    method: 'POST',
    docs: {
      tag: 'Login',
      summary: 'Revoke every token of the wallet',
      description:
        'Every dashboard token of the wallet that was issued until now is invalid at once, in every process, the one that asks included; dashboard connections of `/ws` that came with one are closed (`token_revoked`). A token from a sign-in after the answer is valid at once. The API key and feed connections that came with it are not touched: `POST /me/api/rotate` replaces the key.',
      statuses: [204],
      example: undefined,
    },
    params: NONE,
    query: NONE,
    answer: z.undefined(),
    async handle(_input, { wallet }, network) {
      events.add(wallet, 'signed_out_everywhere', network)
      await tokens.revokeAll(wallet)
      return { status: 204, body: undefined }
    },
  })
}
