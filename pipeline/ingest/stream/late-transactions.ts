import type {
  DropCounts,
  FetchedBlock,
  LateTransaction,
  PendingTransaction,
} from './sealer-events.ts'

/**
 * Recognises transactions that come after their slot was sealed. Remembers the newest sealed slots.
 */
export interface LateTransactions<T> {
  /** Remembers a sealed slot with the keys of its transactions. Slots come in ascending order. */
  remember(slot: number, blockTime: number, keys: Iterable<string>): void
  /** A transaction of a passed slot. Null when it is dropped; the reason is counted. */
  find(slot: number, transaction: PendingTransaction<T>): LateTransaction<T> | null
  /**
   * The transactions of a block that were not emitted before. After a restart nothing is known of
   * the slots before the checkpoint, so all of them are returned, with origin `backfill`.
   */
  recheck(block: FetchedBlock<T>): LateTransaction<T>[]
  /** The remembered slots, newest last. */
  slots(): readonly number[]
}

/** Remembers at most `limit` slots and counts dropped transactions in `dropped`. */
export function createLateTransactions<T>(limit: number, dropped: DropCounts): LateTransactions<T> {
  /** Remembered slots in ascending order. */
  const remembered = new Map<number, { readonly blockTime: number; readonly keys: Set<string> }>()

  function find(slot: number, transaction: PendingTransaction<T>): LateTransaction<T> | null {
    const sealed = remembered.get(slot)
    if (sealed === undefined) {
      const oldest = remembered.keys().next().value
      dropped[oldest !== undefined && slot > oldest ? 'passed_over' : 'too_old']++
      return null
    }
    if (sealed.keys.has(transaction.key)) {
      dropped.duplicate++
      return null
    }
    sealed.keys.add(transaction.key)
    const { blockTime } = sealed
    return { kind: 'late', slot, blockTime, transaction: transaction.item, origin: 'stream' }
  }

  return {
    remember(slot, blockTime, keys) {
      remembered.set(slot, { blockTime, keys: new Set(keys) })
      if (remembered.size > limit) remembered.delete(remembered.keys().next().value ?? slot)
    },
    find,
    recheck({ slot, blockTime, transactions }) {
      if (remembered.has(slot)) return transactions.flatMap((found) => find(slot, found) ?? [])
      remembered.set(slot, { blockTime, keys: new Set(transactions.map(({ key }) => key)) })
      const ascending = [...remembered].sort(([a], [b]) => a - b)
      remembered.clear()
      for (const [kept, sealed] of ascending.slice(-limit)) remembered.set(kept, sealed)
      return transactions.map(({ item }) => ({
        kind: 'late',
        slot,
        blockTime,
        transaction: item,
        origin: 'backfill',
      }))
    },
    slots: () => [...remembered.keys()],
  }
}
