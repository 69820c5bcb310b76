import type { AccountChannel } from '../channel/account-channel.ts'
import { ApiAccount, apiAccount, EXAMPLE_API_ACCOUNT } from '../items/api-account.ts'
import type { AccountDeps } from './api-account.ts'
import { dashboardResource } from './resource.ts'

/**
 * `POST /me/api/rotate`: creates a new key. When the response is sent, the old key is invalid in
 * every process (contract 3, rules E3, F6).
 */
export function rotateApiKey(
  deps: AccountDeps & { readonly channel: Pick<AccountChannel, 'rotated'> },
) {
  const { accounts, credits, keyUses, events, channel } = deps
  return dashboardResource({
    path: '/me/api/rotate',
    method: 'POST',
    docs: {
      tag: 'Account',
      summary: 'Replace the API key',
      description:
        'The old key is invalid at once, and its feed connections are closed (`key_rotated`). Only this answer has the new key. After a 503 the rotation may not have reached every process: call it again.',
      example: {
        ...EXAMPLE_API_ACCOUNT,
        api_key: 'tw_SkB92YpWm4Q2ijQHH34cqbKkCZWszsiQgHVjtNeFF2FUR1nw',
        api_key_rotated_at: 1_790_007_200,
      },
    },
    answer: ApiAccount,
    async handle(_input, { wallet }, network) {
      const [left, lastUsed] = await Promise.all([credits.left(wallet), keyUses.lastUsed(wallet)])
      const { apiKey, key, revokedSha256 } = await accounts.rotateKey(wallet)
      events.add(wallet, revokedSha256 === null ? 'key_created' : 'key_rotated', network)
      if (revokedSha256 !== null) await channel.rotated(wallet, revokedSha256)
      return { body: apiAccount({ wallet, apiKey, key, left, lastUsed }) }
    },
  })
}
