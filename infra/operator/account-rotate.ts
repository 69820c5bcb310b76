import { optionCommand, walletOption } from './command.ts'
import { storeOperatorEvent } from './operator-event.ts'

/**
 * `account rotate`: replaces the API key of an account and prints the new one, which is never shown
 * again. The old key is invalid at once, and its feed connections are closed. `--dry-run` prints
 * which key would be replaced. Rejects with `account_not_found`; with `unavailable` if a process of
 * the API may not know yet: the same command then replaces the key once more.
 */
export const accountRotate = optionCommand({
  name: 'account rotate',
  summary: 'Replaces the API key of an account and prints it, once.',
  usage: '--wallet <address> [--dry-run]',
  options: { wallet: walletOption },
  flags: ['dry-run'],
  asksFirst: true,
  isRecorded: true,
  async run({ wallet, 'dry-run': isDry }, { accounts, channel, store }) {
    const account = await accounts.get(wallet)
    const replaced = { wallet, replaced_key_last4: account.key?.last4 ?? null }
    if (isDry) return { document: { ...replaced, dry_run: true } }
    const opened = await channel() // before the key is replaced, which it has to announce
    const { apiKey, revokedSha256 } = await accounts.rotateKey(wallet)
    await storeOperatorEvent(store, wallet, revokedSha256 === null ? 'key_created' : 'key_rotated')
    if (revokedSha256 !== null) await opened.rotated(wallet, revokedSha256)
    return { document: { ...replaced, api_key: apiKey } }
  },
})
