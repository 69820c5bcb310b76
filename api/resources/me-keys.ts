import { z } from 'zod'
import type { Accounts } from '../accounts/accounts.ts'
import type { KeyUses } from '../accounts/key-uses.ts'
import type { AccountChannel } from '../channel/account-channel.ts'
import { ApiError } from '../errors.ts'
import { ApiKeyItem, apiKeyItem, NewKeyTerms, termsOf } from '../items/api-key.ts'
import { componentSchema } from '../items/component-schema.ts'
import type { AccountDeps } from './api-account.ts'
import { dashboardResource } from './resource.ts'

/** Dependencies of the resources of named keys. */
export interface NamedKeyDeps extends Pick<AccountDeps, 'events'> {
  readonly accounts: Pick<Accounts, 'ensure' | 'namedKeys'>
  readonly keyUses: Pick<KeyUses, 'lastUsedNamed'>
  readonly channel: Pick<AccountChannel, 'keyDeleted'>
  readonly now: () => number
}

/** `GET /me/keys`: the named keys of the account (rule L15). */
export function meKeys({ accounts, keyUses }: NamedKeyDeps) {
  return dashboardResource({
    path: '/me/keys',
    docs: {
      tag: 'Account',
      summary: 'The named API keys of the account',
      description:
        'API keys beside the own key of the account (`GET /me/api`), oldest first, with those that have expired. The keys themselves are not stored.',
      example: { items: [EXAMPLE] },
    },
    answer: componentSchema('ApiKeysAnswer', 'The named API keys of an account.', {
      items: z.array(ApiKeyItem).describe('Oldest first'),
    }),
    async handle(_input, { wallet }) {
      const keys = await accounts.namedKeys.list(wallet)
      const last = await keyUses.lastUsedNamed(keys.map(({ sha256 }) => sha256))
      return { body: { items: keys.map((key) => apiKeyItem(key, last.get(key.sha256))) } }
    },
  })
}

/** `POST /me/keys`: creates a named key. Only this answer has the key. */
export function createKey({ accounts, events, now }: NamedKeyDeps) {
  return dashboardResource({
    path: '/me/keys',
    method: 'POST',
    docs: {
      tag: 'Account',
      summary: 'Create a named API key',
      description:
        'A key for one program, with the scopes, addresses and end that it needs. Only this answer has the key. An account has at most 20 named keys. Rotating the own key of the account leaves them as they are. Credits, limits and feed connections are those of the account.',
      problems: ['too_many_keys'],
      statuses: [201],
      requestExample: {
        name: 'follower on server 2',
        scopes: ['feed'],
        expires_at: 1_797_776_000,
        allowed_addresses: ['192.0.2.17/32'],
      },
      example: { ...EXAMPLE, api_key: 'tw_SkB92YpWm4Q2ijQHH34cqbKkCZWszsiQgHVjtNeFF2FUR1nw' },
    },
    requestBody: NewKeyTerms,
    answer: componentSchema('NewApiKeyAnswer', 'A new named API key.', {
      ...ApiKeyItem.shape,
      api_key: z.string().describe('The key; no other answer has it'),
    }),
    async handle({ body }, { wallet }, network) {
      const terms = termsOf(body)
      if (terms.expiresAt !== null && terms.expiresAt <= now())
        throw new ApiError('invalid_parameter', {
          errors: [{ in: 'body', name: 'expires_at', message: 'expected a time after now' }],
        })
      await accounts.ensure(wallet)
      const created = await accounts.namedKeys.create(wallet, terms)
      if (created === null) throw new ApiError('too_many_keys')
      events.add(wallet, 'key_created', network)
      const { apiKey, key } = created
      return { status: 201, body: { ...apiKeyItem(key, undefined), api_key: apiKey } }
    },
  })
}

/** `DELETE /me/keys/:id`: when the response is sent, the key is invalid in every process. */
export function deleteKey({ accounts, events, channel }: NamedKeyDeps) {
  return dashboardResource({
    path: '/me/keys/:id',
    method: 'DELETE',
    docs: {
      tag: 'Account',
      summary: 'Delete a named API key',
      description:
        'The key is invalid at once, and its feed connections are closed (`key_deleted`). After a 503 the deletion may not have reached every process: call it again.',
      problems: ['key_not_found'],
      statuses: [204],
      example: undefined,
    },
    params: z.object({ id: z.string().meta({ description: 'The `id` of the key' }) }),
    answer: z.undefined(),
    async handle({ params: { id } }, { wallet }, network) {
      const deleted = await accounts.namedKeys.delete(wallet, id)
      if (deleted === null) throw new ApiError('key_not_found')
      if (deleted.isNew) events.add(wallet, 'key_deleted', network)
      await channel.keyDeleted(wallet, deleted.key.sha256)
      return { status: 204, body: undefined }
    },
  })
}

const EXAMPLE: z.infer<typeof ApiKeyItem> = {
  id: '6f1c1a52-94a5-4f0e-9d52-0b7d1f6f8e11',
  name: 'follower on server 2',
  last4: 'R1nw',
  scopes: ['feed'],
  allowed_addresses: ['192.0.2.17/32'],
  created_at: 1_790_000_000,
  expires_at: 1_797_776_000,
  last_used_at: 1_790_003_600,
}
