import { isOtherBlock } from '../../domain/block-id.ts'
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
  remember(block: SealedBlock, keys: Iterable<string>): void
  /**
   * The same for a slot that was sealed before the start, as far as its keys are known. Nothing
   * changes for a slot that is remembered.
   */
  resume(block: SealedBlock, keys: Iterable<string>): void
  /** A transaction of a passed slot. Null when it is dropped; the reason is counted. */
  find(slot: number, transaction: PendingTransaction<T>): LateTransaction<T> | null
  /**
   * The transactions of a block that were not emitted before. Those that perhaps were, before the
   * start, have origin `backfill`: all of a slot that is not remembered, and the first time those
   * of a resumed slot with a known key. What came late is perhaps not on all partitions.
   */
  recheck(block: FetchedBlock<T>): LateTransaction<T>[]
  /**
   * Remembers that a slot was withdrawn. Its transactions that come later are dropped, and so are
   * those of a block that was read before.
   */
  withdraw(slot: number): void
  /** All transactions of a finalized block. Those of its slot that come later are dropped. */
  settle(block: FetchedBlock<T>): LateTransaction<T>[]
  /** The remembered slots, newest last. */
  slots(): readonly number[]
}

/** A sealed block. */
export type SealedBlock = Pick<FetchedBlock<unknown>, 'slot' | 'blockTime' | 'blockId'>

/** Remembers at most `limit` slots and counts dropped transactions in `dropped`. */
export function createLateTransactions<T>(limit: number, dropped: DropCounts): LateTransactions<T> {
  /** Remembered slots in ascending order. */
  const remembered = new Map<number, Remembered>()

  function remember({ slot, blockTime, blockId }: SealedBlock, keys: Iterable<string>): void {
    remembered.set(slot, { blockTime, blockId, keys: new Set(keys), isSettled: false })
    if (remembered.size > limit) remembered.delete(remembered.keys().next().value ?? slot)
  }

  function find(slot: number, transaction: PendingTransaction<T>): LateTransaction<T> | null {
    const sealed = remembered.get(slot)
    if (sealed === undefined) {
      const oldest = remembered.keys().next().value
      dropped[oldest !== undefined && slot > oldest ? 'passed_over' : 'too_old']++
      return null
    }
    if (sealed.isSettled || sealed.keys.has(transaction.key)) {
      dropped.duplicate++
      return null
    }
    sealed.keys.add(transaction.key)
    const { blockTime, blockId } = sealed
    const { item } = transaction
    return { kind: 'late', slot, blockTime, blockId, transaction: item, origin: 'stream' }
  }

  /** Remembers a slot at its place. */
  function insert(slot: number, sealed: Remembered): void {
    remembered.set(slot, sealed)
    const ascending = [...remembered].sort(([a], [b]) => a - b)
    remembered.clear()
    for (const [kept, one] of ascending.slice(-limit)) remembered.set(kept, one)
  }

  return {
    remember,
    resume({ slot, blockTime, blockId }, keys) {
      if (remembered.has(slot)) return
      const emitted = new Set(keys)
      insert(slot, { blockTime, blockId, keys: emitted, isSettled: false, isResumed: true })
    },
    find,
    recheck(block) {
      const { slot, blockTime, blockId, transactions } = block
      const known = remembered.get(slot)
      // The server of the stream and that of RPC may be on different forks.
      if (known && isOtherBlock(known.blockId, blockId)) return []
      if (known) {
        const again = new Set(
          known.isResumed ? transactions.filter(({ key }) => known.keys.has(key)) : [],
        )
        known.isResumed = false
        const others = transactions.filter((one) => !again.has(one))
        return [
          ...allLate({ ...block, transactions: [...again] }, 'backfill'),
          ...others.flatMap((one) => find(slot, one) ?? []),
        ]
      }
      const keys = new Set(transactions.map(({ key }) => key))
      insert(slot, { blockTime, blockId, keys, isSettled: false })
      return allLate(block, 'backfill')
    },
    withdraw: (slot) =>
      insert(slot, { blockTime: 0, blockId: null, keys: new Set(), isSettled: true }),
    settle(block) {
      const { slot, blockTime, blockId } = block
      insert(slot, { blockTime, blockId, keys: new Set(), isSettled: true })
      return allLate(block, 'stream')
    },
    slots: () => [...remembered.keys()],
  }
}

/** All transactions of a block, as late ones. */
function allLate<T>(
  { slot, blockTime, blockId, transactions }: FetchedBlock<T>,
  origin: LateTransaction<T>['origin'],
): LateTransaction<T>[] {
  return transactions.map(({ item }) => ({
    kind: 'late',
    slot,
    blockTime,
    blockId,
    transaction: item,
    origin,
  }))
}

interface Remembered extends Pick<SealedBlock, 'blockTime' | 'blockId'> {
  readonly keys: Set<string>
  /** Whether all its transactions are known for good. */
  readonly isSettled: boolean
  /** Whether it was sealed before the start, and not compared with its block since. */
  isResumed?: boolean
}
