import { z } from 'zod'
import type { NamedKey } from '../../api/accounts/named-keys.ts'
import { ServiceError } from '../../pipeline/domain/service-error.ts'
import { type Command, optionCommand, walletOption } from './command.ts'
import { storeOperatorEvent } from './operator-event.ts'

/** `account keys`: lists the named API keys of an account (rule L15), without the keys. */
export const accountNamedKeys = optionCommand({
  name: 'account keys',
  summary: 'Lists the named API keys of an account.',
  usage: '--wallet <address>',
  options: { wallet: walletOption },
  isRecorded: true,
  async run({ wallet }, { accounts }) {
    await accounts.get(wallet)
    return { document: { wallet, items: (await accounts.namedKeys.list(wallet)).map(itemOf) } }
  },
})

/**
 * `account keys delete`: deletes a named API key of an account. The key is invalid at once, and its
 * feed connections are closed. `--dry-run` prints which key it would be. Rejects with
 * `account_not_found`, with `invalid_argument` for an unknown id, and with `unavailable` if a
 * process of the API may not know yet.
 */
export const accountKeysDelete: Command = {
  ...optionCommand({
    name: 'account keys delete',
    summary: 'Deletes a named API key of an account.',
    usage: '--wallet <address> --id <id> [--dry-run]',
    options: { wallet: walletOption, id: z.string() },
    flags: ['dry-run'],
    asksFirst: true,
    isRecorded: true,
    async run({ wallet, id, 'dry-run': isDry }, { accounts, channel, store }) {
      await accounts.get(wallet)
      if (isDry) {
        const key = (await accounts.namedKeys.list(wallet)).find((one) => one.id === id)
        if (key === undefined) throw noKey()
        return { document: { wallet, ...itemOf(key), dry_run: true } }
      }
      const opened = await channel() // before the key is deleted, which it has to announce
      const deleted = await accounts.namedKeys.delete(wallet, id)
      if (deleted === null) throw noKey()
      if (deleted.isNew) await storeOperatorEvent(store, wallet, 'key_deleted')
      await opened.keyDeleted(wallet, deleted.key.sha256)
      return { document: { wallet, ...itemOf(deleted.key) } }
    },
  }),
  retryHint: () => 'the command can be repeated',
}

function noKey(): ServiceError {
  return new ServiceError('invalid_argument', '--id: this account has no named key with this id')
}

function itemOf({ id, name, last4, scopes, allowedAddresses, createdAt, expiresAt }: NamedKey) {
  return {
    id,
    name,
    last4,
    scopes,
    allowed_addresses: allowedAddresses.length === 0 ? null : allowedAddresses,
    created_at: Math.floor(createdAt / 1000),
    expires_at: expiresAt === null ? null : Math.floor(expiresAt / 1000),
  }
}
