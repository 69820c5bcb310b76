import { partitionOf } from '../../log/topics.ts'
import type { Store } from '../../store/store.ts'
import { findWalletsInSlot, voidRows } from '../../store/tables/decoded-rows.ts'
import { voidLateSwaps } from '../../store/tables/late-swaps.ts'
import { insertSolPrices, nextPriceTime } from '../../store/tables/sol-prices.ts'
import { voidTransactions } from '../../store/tables/transactions.ts'
import { clearPrices, readSwapsPricedBy } from '../../store/tables/unpriced-swaps.ts'
import { insertWithdrawnSlot } from '../../store/tables/withdrawn-slots.ts'
import { DECODED_TABLES } from './event-rows.ts'
import type { PlacedWithdrawal } from './flush.ts'
import type { WalletBooks } from './wallet-books.ts'

/**
 * Voids what is stored of a withdrawn slot for the wallets of one partition, and refolds them (rule
 * K9): events, links, bytes, late places. The price that came from the slot is void too, and
 * swaps valued at it lose it until another one is filled in. Returns the wallets that had rows of
 * the slot, and whether swaps lost their price.
 *
 * Idempotent. The order of writes is: the withdrawal itself, so that later records of the slot
 * replace its tombstones; late places and the price; refold marks; tombstones; books. After a crash
 * the log brings the withdrawal again, and marked wallets are refolded in any case.
 */
export async function withdrawSlot(
  store: Store,
  books: WalletBooks,
  withdrawal: PlacedWithdrawal,
  partitions: number,
): Promise<{ readonly wallets: readonly number[]; readonly lostPrices: boolean }> {
  const { slot, partition } = withdrawal
  const isMine = (wallet: number) => partitionOf(wallet, partitions) === partition
  await insertWithdrawnSlot(store, withdrawal)
  await voidLateSwaps(store, withdrawal)
  const priced = await withdrawPrice(store, withdrawal)
  const unpriced = priced.filter(({ wallet }) => isMine(wallet))
  const wallets = (await findWalletsInSlot(store, slot)).filter(isMine)
  const changed = new Set([...wallets, ...unpriced.map(({ wallet }) => wallet)])
  await books.amend([...changed], async () => {
    await Promise.all(DECODED_TABLES.map((table) => voidRows(store, table, slot, wallets)))
    await voidTransactions(store, slot, wallets)
    await clearPrices(store, unpriced)
  })
  return { wallets, lostPrices: unpriced.length > 0 }
}

/** Voids the price that came from the slot. Returns the swaps that were valued at it. */
async function withdrawPrice(store: Store, { slot, passedSlot, solPrice }: PlacedWithdrawal) {
  if (solPrice === null) return []
  const { time, usdE9 } = solPrice
  const until = await nextPriceTime(store, time)
  await insertSolPrices(store, 'pool', [{ time, usdE9: 0n }])
  return readSwapsPricedBy(store, { from: slot, to: passedSlot, time, until, usdE9 })
}
