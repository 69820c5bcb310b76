import type { Store } from '../../pipeline/store/store.ts'
import { readDisabled } from '../accounts/accounts.ts'
import { readWithPro } from '../billing/subscriptions.ts'
import type { Account } from '../credits/meter.ts'
import type { StoredWebhook } from '../webhooks/webhooks.ts'

/** Whose webhook it is, and of which channel. */
export type HookOwner = Pick<StoredWebhook, 'account' | 'channel'>

/** Says of which webhooks messages may be delivered now. */
export type MayServe = (hook: HookOwner) => boolean

/**
 * Reads which webhooks may be served: those of accounts that are enabled, and for views only of
 * wallets with active Pro (rules E3, E6). `now`: unix milliseconds.
 */
export async function readHookAccess(
  store: Store,
  hooks: Iterable<HookOwner>,
  now: number,
): Promise<MayServe> {
  const all = new Set<Account>()
  const viewers = new Set<Account>()
  for (const { account, channel } of hooks) {
    all.add(account)
    if (channel !== 'trades') viewers.add(account)
  }
  const [disabled, pro] = await Promise.all([
    all.size === 0 ? all : readDisabled(store, [...all]),
    viewers.size === 0 ? viewers : readWithPro(store, [...viewers], now),
  ])
  return ({ account, channel }) =>
    !disabled.has(account) && (channel === 'trades' || pro.has(account))
}
