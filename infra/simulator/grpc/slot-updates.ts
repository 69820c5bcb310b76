import { SlotStatus } from '@triton-one/yellowstone-grpc'
import { LRUCache } from 'lru-cache'
import type { Block } from '../block.ts'
import type { SimulatedChain } from '../chain.ts'
import type { TroubleAt } from '../options.ts'
import { createRandom, hash32, type Random } from '../random.ts'
import { garbageUpdates } from './garbage.ts'
import {
  accountUpdate,
  blockMetaUpdate,
  type StreamTransactionUpdate,
  type StreamUpdate,
  slotUpdate,
  transactionUpdate,
} from './updates.ts'

/**
 * The updates of each slot, in the order in which they are sent. The same slot always gives the
 * same updates.
 */
export interface SlotUpdates {
  /**
   * A block's transactions, accounts and meta, as the stream sends them together. `until` is the
   * newest confirmed slot: a late transaction is left out until its slot is reached.
   */
  data(slot: number, until: number): readonly StreamUpdate[]
  /** Late transactions of earlier slots that are sent with this slot. */
  late(slot: number): readonly StreamUpdate[]
  status(slot: number, status: SlotStatus): StreamUpdate
}

/** Least and most number of slots by which a late transaction is late. */
const LATE_SLOTS = { least: 3, most: 12 } as const

/** Whether a transaction is late while this trouble is on. */
export function comesLate(seed: number, slot: number, index: number): boolean {
  return hash32(seed, 'late', slot, index) % 25 === 0
}

/**
 * Creates the updates of a chain's slots, with the trouble that is on. Caches the encoded updates
 * of `remembered` slots.
 */
export function createSlotUpdates(
  chain: SimulatedChain,
  seed: number,
  troubleAt: TroubleAt,
  remembered: number,
): SlotUpdates {
  const blocks = new LRUCache({
    max: remembered,
    memoMethod: (slot: number) => updatesOf(slot, chain.block(slot)),
  })
  const blockOf = (slot: number) => blocks.memo(slot)

  /** The slot with which a transaction is sent: its own, unless it is late. */
  const comesWith = (slot: number, index: number): number => {
    if (!troubleAt('late', slot) || chain.kind(slot) !== 'produced') return slot
    if (!comesLate(seed, slot, index)) return slot
    const hash = hash32(seed, 'late', slot, index)
    const delay = LATE_SLOTS.least + (Math.floor(hash / 25) % (LATE_SLOTS.most - LATE_SLOTS.least))
    return chain.step(slot, delay)
  }

  /** Now and then, puts a transaction of the previous block before the updates. */
  const repeatEarlier = (slot: number, until: number, updates: StreamUpdate[], random: Random) => {
    const earlier = chain.kind(slot) === 'produced' ? chain.parent(slot) : slot
    const before = earlier < slot && earlier >= chain.firstSlot ? blockOf(earlier) : null
    if (before === null || before.transactions.length === 0 || !random.chance(0.3)) return
    const index = random.below(before.transactions.length)
    if (comesWith(earlier, index) <= until) updates.unshift(before.transactions[index]!)
  }

  return {
    data(slot, until) {
      const { transactions, rest } = blockOf(slot)
      const random = createRandom(seed, 'trouble', slot)
      const updates: StreamUpdate[] = transactions.filter(
        (_, index) => comesWith(slot, index) <= until,
      )
      if (troubleAt('shuffle', slot)) random.shuffle(updates)
      if (troubleAt('duplicates', slot)) {
        for (const update of [...updates])
          if (random.chance(0.15)) insertAnywhere(updates, update, random)
        repeatEarlier(slot, until, updates, random)
      }
      if (troubleAt('garbage', slot)) insertGarbage(slot, transactions, updates, random)
      if (!troubleAt('metaFirst', slot)) return [...updates, ...rest]
      const at = random.below(updates.length + 1)
      return [...updates.slice(0, at), ...rest, ...updates.slice(at)]
    },

    late(slot) {
      const found: StreamUpdate[] = []
      for (let back = LATE_SLOTS.most; back >= LATE_SLOTS.least; back -= 1) {
        const earlier = chain.step(slot, -back)
        if (!troubleAt('late', earlier)) continue
        if (earlier < chain.firstSlot || chain.kind(earlier) !== 'produced') continue
        blockOf(earlier).transactions.forEach((update, index) => {
          if (comesWith(earlier, index) === slot) found.push(update)
        })
      }
      return found
    },

    status(slot, status) {
      const dead = status === SlotStatus.SLOT_DEAD ? 'fork was given up' : undefined
      return slotUpdate(slot, chain.parent(slot), status, dead)
    },
  }
}

interface BlockUpdates {
  readonly transactions: readonly StreamTransactionUpdate[]
  /** Accounts, then the meta. */
  readonly rest: readonly StreamUpdate[]
}

function updatesOf(slot: number, block: Block): BlockUpdates {
  return {
    transactions: block.transactions.map((info) => transactionUpdate(slot, info)),
    rest: [...block.accounts.map(accountUpdate), blockMetaUpdate(block)],
  }
}

/** Now and then, adds transactions that cannot be decoded. */
function insertGarbage(
  slot: number,
  transactions: readonly StreamTransactionUpdate[],
  updates: StreamUpdate[],
  random: Random,
): void {
  const sample = transactions[random.below(Math.max(1, transactions.length))]
  if (sample === undefined || !random.chance(0.4)) return
  for (const update of garbageUpdates(slot, sample, transactions.length, random))
    insertAnywhere(updates, update, random)
}

function insertAnywhere(updates: StreamUpdate[], update: StreamUpdate, random: Random): void {
  updates.splice(random.below(updates.length + 1), 0, update)
}
