import type { EventKey } from '../../domain/event-key.ts'
import { partitionOf } from '../../log/topics.ts'
import type { Store } from '../../store/store.ts'
import { findWalletsInSlots, voidRows } from '../../store/tables/decoded-rows.ts'
import { voidLateSwaps } from '../../store/tables/late-swaps.ts'
import { insertSolPrices, nextPriceTime } from '../../store/tables/sol-prices.ts'
import { voidTransactions } from '../../store/tables/transactions.ts'
import { clearPrices, readSwapsPricedBy } from '../../store/tables/unpriced-swaps.ts'
import { insertWithdrawnSlots } from '../../store/tables/withdrawn-slots.ts'
import { insertWithdrawnSwaps } from '../../store/tables/withdrawn-swaps.ts'
import { DECODED_TABLES } from './event-rows.ts'
import type { PlacedWithdrawal } from './flush.ts'
import type { WalletBooks } from './wallet-books.ts'

/**
 * Voids what is stored of withdrawn slots for the wallets of one partition, and refolds them (rule
 * K9): events, links, bytes, late places. Prices that came from the slots are void too, and swaps
 * valued at one lose it until another one is filled in. `withdrawals` are of one partition and
 * follow each other there. Returns the wallets that had rows of the slots, and whether swaps lost
 * their price.
 *
 * Idempotent. The order of writes is: copies of swaps that sockets may have received; the
 * withdrawals themselves, so that later records of the slots replace their tombstones; prices;
 * refold marks; tombstones of bytes, then of the rows by which the wallets are found; books; late
 * places, without which a late swap would be read as one in order. After a crash the log brings the
 * withdrawals again, and marked wallets are refolded in any case.
 */
export async function withdrawSlots(
  store: Store,
  books: WalletBooks,
  withdrawals: readonly PlacedWithdrawal[],
  { partitions, isReplayed }: { readonly partitions: number; readonly isReplayed: boolean },
): Promise<{ readonly wallets: readonly number[]; readonly lostPrices: boolean }> {
  const [first] = withdrawals
  if (first === undefined) return { wallets: [], lostPrices: false }
  const slots = withdrawals.map(({ slot }) => slot)
  const isMine = (wallet: number) => partitionOf(wallet, partitions) === first.partition
  const wallets = (await findWalletsInSlots(store, slots)).filter(isMine)
  // An earlier owner may have deleted rows after this process had read them (rule K15).
  const deleted = isReplayed ? await findWalletsInSlots(store, slots, 'deleted') : []
  for (const withdrawal of withdrawals)
    if (withdrawal.rewind === null) await insertWithdrawnSwaps(store, withdrawal, wallets)
  await insertWithdrawnSlots(store, withdrawals)
  const unpriced: EventKey[] = []
  for (const withdrawal of withdrawals)
    for (const swap of await withdrawPrice(store, withdrawal))
      if (isMine(swap.wallet)) unpriced.push(swap)
  const changed = new Set([
    ...wallets,
    ...deleted.filter(isMine),
    ...unpriced.map(({ wallet }) => wallet),
  ])
  await books.amend([...changed], async () => {
    await voidTransactions(store, slots, wallets)
    await Promise.all(DECODED_TABLES.map((table) => voidRows(store, table, slots, wallets)))
    await clearPrices(store, unpriced)
  })
  await voidLateSwaps(store, slots, first)
  return { wallets, lostPrices: unpriced.length > 0 }
}

/** Voids the price that came from the slot. Returns the swaps that were valued at it. */
async function withdrawPrice(store: Store, { slot, passedSlot, solPrice }: PlacedWithdrawal) {
  if (solPrice === null) return []
  const { time, usdE9 } = solPrice
  const until = await nextPriceTime(store, time)
  await insertSolPrices(store, 'pool', [{ time, usdE9: 0n }])
  const from = Math.max(0, slot - SLOTS_IN_A_SECOND)
  return readSwapsPricedBy(store, { from, to: passedSlot, time, until, usdE9 })
}

/**
 * A late swap of an earlier slot in the second of the price was valued at it too. More slots than
 * a second ever has: the query compares the seconds.
 */
const SLOTS_IN_A_SECOND = 1000
