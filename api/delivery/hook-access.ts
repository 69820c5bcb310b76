import type { Store } from '../../pipeline/store/store.ts'
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
    readWallets(store, all, DISABLED),
    readWallets(store, viewers, WITH_PRO, { now: Math.floor(now / 1000) }),
  ])
  return ({ account, channel }) =>
    !disabled.has(account) && (channel === 'trades' || pro.has(account))
}

async function readWallets(
  store: Store,
  among: ReadonlySet<Account>,
  query: string,
  parameters: Readonly<Record<string, number>> = {},
): Promise<ReadonlySet<Account>> {
  if (among.size === 0) return among
  const rows = await store.query<{ readonly wallet: string }>(query, {
    ...parameters,
    wallets: [...among],
  })
  return new Set(rows.map(({ wallet }) => wallet))
}

const DISABLED = `SELECT wallet FROM accounts FINAL
  WHERE wallet IN {wallets:Array(String)} AND disabled_at IS NOT NULL LIMIT 1000000`
const WITH_PRO = `SELECT DISTINCT wallet FROM subscriptions FINAL
  WHERE wallet IN {wallets:Array(String)} AND expires_at > {now:UInt64} LIMIT 1000000`
