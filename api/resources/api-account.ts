import type { AccountEvents } from '../accounts/account-events.ts'
import type { Accounts } from '../accounts/accounts.ts'
import type { KeyUses } from '../accounts/key-uses.ts'
import type { Credits } from '../credits/credits.ts'
import { ApiAccount, apiAccount, EXAMPLE_API_ACCOUNT } from '../items/api-account.ts'
import { NONE } from './parameters.ts'
import { dashboardResource } from './resource.ts'

/** What is known of accounts and their keys. */
export interface AccountDeps {
  readonly accounts: Pick<Accounts, 'openKey' | 'rotateKey' | 'ensure'>
  readonly credits: Pick<Credits, 'left'>
  readonly keyUses: Pick<KeyUses, 'lastUsed'>
  readonly events: Pick<AccountEvents, 'add' | 'list'>
}

/**
 * `GET /me/api`: the account of who is logged in; the first one makes it and its key, and alone is
 * told the key (contract 4.4, rule E3).
 */
export function meApi({ accounts, credits, keyUses, events }: AccountDeps) {
  return dashboardResource({
    path: '/me/api',
    docs: {
      tag: 'Account',
      summary: 'The API key of the wallet, and its credits',
      description:
        'The first call of a wallet makes its API key and shows it, this once: `api_key` is null in every later answer. A key that was lost is replaced with `POST /me/api/rotate`.',
      example: EXAMPLE_API_ACCOUNT,
    },
    params: NONE,
    query: NONE,
    answer: ApiAccount,
    async handle(_input, { wallet }, network) {
      // Asked first: a key that was made and then not told would be lost.
      const [left, lastUsed] = await Promise.all([credits.left(wallet), keyUses.lastUsed(wallet)])
      const { apiKey, key } = await accounts.openKey(wallet)
      if (apiKey !== null) events.add(wallet, 'key_created', network)
      return { body: apiAccount({ wallet, apiKey, key, left, lastUsed }) }
    },
  })
}
