import { aliasOf } from '../../pipeline/domain/alias.ts'
import { readTrackedWallets } from '../../pipeline/store/tables/tracked-wallets.ts'
import { mapConcurrently } from '../../pipeline/workers/backfill/map-concurrently.ts'
import { type Reconciliation, reconcileWallet } from '../../pipeline/workers/links/reconcile.ts'
import { optionCommand, trackedWalletsOption } from './command.ts'

const WALLETS_AT_ONCE = 4

/**
 * `reconcile --wallet <W3|all> [--json]`: compares, as of a finalized slot, the last link of each
 * account with the balance on chain, and balance changes of base mints with events (rule K8). Every
 * difference has a cause. What is missing after a last link becomes a break, which is repaired.
 * Exits with 1 if a difference is unexplained. The document is always JSON.
 */
export const reconcile = optionCommand({
  name: 'reconcile',
  summary: 'Compares what tracked wallets hold on chain with what is stored.',
  usage: '--wallet <W3|all> [--json]',
  options: { wallet: trackedWalletsOption },
  flags: ['json'],
  isRecorded: true,
  async run({ wallet }, { store, backfills, stop }, report) {
    const wallets = await wallet(store)
    const { rpc } = await backfills()
    const addresses = await readTrackedWallets(store)
    let done = 0
    const found = await mapConcurrently(wallets, WALLETS_AT_ONCE, async (number) => {
      const address = addresses[number - 1]
      if (address === undefined) return null
      const compared = await reconcileWallet(number, address, { store, rpc, stop })
      done += 1
      report({ what: 'wallets', done, total: wallets.length })
      return compared
    })
    const items = found.filter((compared) => compared !== null)
    return { document: documentOf(items), failed: countOf(items, 'unexplained') > 0 }
  },
})

const CAUSES = ['missing', 'nft', 'order', 'undecoded', 'unexplained'] as const

function documentOf(items: readonly Reconciliation[]) {
  return {
    slot: Math.min(...items.map(({ slot }) => slot)),
    wallets: items.length,
    accounts: items.reduce((sum, { accounts }) => sum + accounts, 0),
    unverified: items.filter(({ isOpened }) => !isOpened).length,
    ...Object.fromEntries(CAUSES.map((cause) => [cause, countOf(items, cause)])),
    items: items
      .filter(({ differences }) => differences.length > 0)
      .map(({ wallet, slot, differences }) => ({
        alias: aliasOf(wallet),
        slot,
        differences: differences.map((difference) => ({
          mint: difference.mint === '' ? null : difference.mint,
          slot: difference.slot,
          amount: String(difference.amount),
          cause: difference.cause,
        })),
      })),
  }
}

function countOf(items: readonly Reconciliation[], cause: (typeof CAUSES)[number]): number {
  return items.reduce(
    (sum, { differences }) => sum + differences.filter((found) => found.cause === cause).length,
    0,
  )
}
