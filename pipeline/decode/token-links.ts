import { addressFromBytes } from '../domain/address.ts'
import type { TokenAccountLink } from '../domain/event.ts'
import type { DecodedRecord } from '../domain/slot.ts'
import type { Transaction } from '../domain/transaction.ts'
import type { NamedWallets } from './named-wallets.ts'

const MAX_U64 = 2n ** 64n - 1n

/**
 * Adds a link for each token account that belongs to the wallet before or after the transaction, by
 * address (rule K8). An account counts as empty while it does not exist or belongs to somebody
 * else. So it may come and go by `SetAuthority`.
 *
 * An account whose balance did not change has a link only if the transaction names the wallet:
 * other such transactions are not in the wallet's subscription. Balances without an owner (2021)
 * have none.
 */
export function addTokenLinks(
  records: DecodedRecord[],
  tx: Transaction,
  named: NamedWallets,
  wallet: number,
  blockTime: number,
): void {
  if (!named.ownTokens) return
  const owner = named.addresses[named.wallets.indexOf(wallet)]
  const amounts = new Map<
    number,
    { mint: TokenAccountLink['mint']; before: bigint; after: bigint }
  >()
  for (const balance of tx.preTokenBalances) {
    if (balance.owner !== owner) continue
    const { accountIndex, mint, amount } = balance
    amounts.set(accountIndex, { mint, before: amount, after: 0n })
  }
  for (const balance of tx.postTokenBalances) {
    if (balance.owner !== owner) continue
    const { accountIndex, mint, amount } = balance
    const before = amounts.get(accountIndex)?.before ?? 0n
    amounts.set(accountIndex, { mint, before, after: amount })
  }
  const isNamed = named.atKey.includes(wallet)
  const links: TokenAccountLink[] = []
  for (const [accountIndex, { mint, before, after }] of amounts) {
    if (before === after && !isNamed) continue
    if (before > MAX_U64 || after > MAX_U64) continue // amounts come from the node unchecked
    const account = addressFromBytes(tx.accountKeys[accountIndex]!)
    const recordFields = { slot: tx.slot, txIndex: tx.index, wallet, blockTime }
    links.push({ kind: 'token_link', ...recordFields, account, mint, before, after })
  }
  if (links.length > 1) links.sort((a, b) => (a.account < b.account ? -1 : 1))
  for (const link of links) records.push(link)
}
