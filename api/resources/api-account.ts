import type { AccountEvents } from '../accounts/account-events.ts'
import type { Accounts } from '../accounts/accounts.ts'
import type { KeyUses } from '../accounts/key-uses.ts'
import type { AccountChannel } from '../channel/account-channel.ts'
import type { Credits } from '../credits/credits.ts'
import type { Balance } from '../credits/meter.ts'
import { ApiAccount, apiAccount, EXAMPLE_API_ACCOUNT } from '../items/api-account.ts'
import { dashboardResource } from './resource.ts'

/** The balance, or after first credits what they made of it. */
const withLeft = (balance: Balance, left: number | null): Balance =>
  left === null ? balance : { ...balance, left }

/** Dependencies of resources about accounts and keys. */
export interface AccountDeps {
  readonly accounts: Pick<Accounts, 'openKey' | 'rotateKey' | 'ensure'>
  readonly credits: Pick<Credits, 'balance'>
  readonly keyUses: Pick<KeyUses, 'lastUsed'>
  readonly events: Pick<AccountEvents, 'add' | 'list'>
  readonly channel: Pick<AccountChannel, 'rotated'>
  /** The credits that a new account gets (rule L19). It counts the call. */
  readonly firstCredits: () => Promise<number>
}

/**
 * `GET /me/api`: the account of the connected wallet. The first call creates the account and its
 * key, and only that answer has the raw key (contract 4.4, rule E3).
 */
export function meApi({ accounts, credits, keyUses, events, firstCredits }: AccountDeps) {
  return dashboardResource({
    path: '/me/api',
    docs: {
      tag: 'Account',
      summary: 'The API key of the wallet, and its credits',
      description:
        'The first call of a wallet creates its API key. Only that answer has the raw key; `api_key` is null in every later one. If the key is lost, replace it with `POST /me/api/rotate`.',
      example: EXAMPLE_API_ACCOUNT,
    },
    answer: ApiAccount,
    async handle(_input, { wallet }, network) {
      // These reads come first: if they failed after the key was created, its raw text would be
      // lost.
      const [balance, lastUsed] = await Promise.all([
        credits.balance(wallet),
        keyUses.lastUsed(wallet),
      ])
      const { apiKey, key, left } = await accounts.openKey(wallet, firstCredits)
      if (apiKey !== null) events.add(wallet, 'key_created', network)
      return {
        body: apiAccount({ wallet, apiKey, key, balance: withLeft(balance, left), lastUsed }),
      }
    },
  })
}

/**
 * `POST /me/api/rotate`: creates a new key. When the response is sent, the old key is invalid in
 * every process (contract 3, rules E3, F6).
 */
export function rotateApiKey(deps: AccountDeps) {
  const { accounts, credits, keyUses, events, channel, firstCredits } = deps
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
      const [balance, lastUsed] = await Promise.all([
        credits.balance(wallet),
        keyUses.lastUsed(wallet),
      ])
      const { apiKey, key, revokedSha256, left } = await accounts.rotateKey(wallet, firstCredits)
      events.add(wallet, revokedSha256 === null ? 'key_created' : 'key_rotated', network)
      if (revokedSha256 !== null) await channel.rotated(wallet, revokedSha256)
      return {
        body: apiAccount({ wallet, apiKey, key, balance: withLeft(balance, left), lastUsed }),
      }
    },
  })
}
