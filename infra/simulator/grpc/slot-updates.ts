import { SlotStatus } from '@triton-one/yellowstone-grpc'
import { LRUCache } from 'lru-cache'
import type { Block } from '../block.ts'
import type { SimulatedChain } from '../chain.ts'
import type { Omission, Trouble, TroubleAt } from '../options.ts'
import { createRandom, hash32, type Random } from '../random.ts'
import { garbageUpdates } from './garbage.ts'
import type { Omissions } from './omissions.ts'
import {
  accountUpdate,
  blockMetaUpdate,
  type StreamTransactionUpdate,
  type StreamUpdate,
  slotUpdate,
  transactionUpdate,
} from './updates.ts'

/** Minimum and maximum number of slots by which a late transaction is late. */
const LATE_SLOTS = { least: 3, most: 12 } as const

/** Whether a transaction is late while this trouble is on. */
export function comesLate(seed: number, slot: number, index: number): boolean {
  return hash32(seed, 'late', slot, index) % 25 === 0
}

/**
 * The updates of a chain's slots, in the order in which they are sent, with the trouble that is on.
 * The same slot always gives the same updates.
 */
export class SlotUpdates {
  readonly #chain: SimulatedChain
  readonly #seed: number
  readonly #troubleAt: TroubleAt
  readonly #omissions: Omissions
  readonly #blocks: LRUCache<number, BlockUpdates>

  /** Caches the encoded updates of `remembered` slots. */
  constructor(
    chain: SimulatedChain,
    seed: number,
    troubleAt: TroubleAt,
    omissions: Omissions,
    remembered: number,
  ) {
    this.#chain = chain
    this.#seed = seed
    this.#troubleAt = troubleAt
    this.#omissions = omissions
    this.#blocks = new LRUCache({
      max: remembered,
      memoMethod: (slot) => updatesOf(slot, chain.block(slot)),
    })
  }

  /** The transactions of a block that the stream never sends, by index. */
  omitted(slot: number): ReadonlyMap<number, Omission> {
    return this.#omissions.of(slot, this.#blocks.memo(slot).transactions)
  }

  /**
   * A block's transactions, accounts and meta, as the stream sends them together. `until` is the
   * newest confirmed slot: a late transaction is left out until its slot is reached.
   */
  data(slot: number, until: number): readonly StreamUpdate[] {
    const { transactions, rest } = this.#blocks.memo(slot)
    const random = createRandom(this.#seed, 'trouble', slot)
    const isOn = (trouble: keyof Trouble) => this.#troubleAt(trouble, slot)
    const omitted = this.omitted(slot)
    const updates: StreamUpdate[] = transactions.filter(
      (_, index) => !omitted.has(index) && this.#comesWith(slot, index) <= until,
    )
    if (isOn('shuffle')) random.shuffle(updates)
    if (isOn('duplicates')) {
      for (const update of [...updates])
        if (random.chance(0.15)) insertAnywhere(updates, update, random)
      this.#repeatEarlier(slot, until, updates, random)
    }
    if (isOn('garbage')) insertGarbage(slot, transactions, updates, random)
    if (!isOn('metaFirst')) return [...updates, ...rest]
    const at = random.below(updates.length + 1)
    return [...updates.slice(0, at), ...rest, ...updates.slice(at)]
  }

  /** Late transactions of earlier slots that are sent with this slot. */
  late(slot: number): readonly StreamUpdate[] {
    const found: StreamUpdate[] = []
    for (let back = LATE_SLOTS.most; back >= LATE_SLOTS.least; back -= 1) {
      const earlier = this.#chain.step(slot, -back)
      if (!this.#troubleAt('late', earlier)) continue
      if (earlier < this.#chain.firstSlot || this.#chain.kind(earlier) !== 'produced') continue
      const omitted = this.omitted(earlier)
      this.#blocks.memo(earlier).transactions.forEach((update, index) => {
        if (!omitted.has(index) && this.#comesWith(earlier, index) === slot) found.push(update)
      })
    }
    return found
  }

  status(slot: number, status: SlotStatus): StreamUpdate {
    const dead = status === SlotStatus.SLOT_DEAD ? 'fork was given up' : undefined
    return slotUpdate(slot, this.#chain.parent(slot), status, dead)
  }

  /** The slot whose updates a transaction is sent with: its own slot, unless it is late. */
  #comesWith(slot: number, index: number): number {
    if (!this.#troubleAt('late', slot) || this.#chain.kind(slot) !== 'produced') return slot
    if (!comesLate(this.#seed, slot, index)) return slot
    const hash = hash32(this.#seed, 'late', slot, index)
    const delay = LATE_SLOTS.least + (Math.floor(hash / 25) % (LATE_SLOTS.most - LATE_SLOTS.least))
    return this.#chain.step(slot, delay)
  }

  /** Occasionally repeats a transaction of the previous block before the updates. */
  #repeatEarlier(slot: number, until: number, updates: StreamUpdate[], random: Random): void {
    const earlier = this.#chain.kind(slot) === 'produced' ? this.#chain.parent(slot) : slot
    if (earlier === slot || earlier < this.#chain.firstSlot) return
    const { transactions } = this.#blocks.memo(earlier)
    if (transactions.length === 0 || !random.chance(0.3)) return
    const index = random.below(transactions.length)
    if (!this.omitted(earlier).has(index) && this.#comesWith(earlier, index) <= until)
      updates.unshift(transactions[index]!)
  }
}

interface BlockUpdates {
  readonly transactions: readonly StreamTransactionUpdate[]
  /** Account updates, then the block meta. */
  readonly rest: readonly StreamUpdate[]
}

function updatesOf(slot: number, block: Block): BlockUpdates {
  return {
    transactions: block.transactions.map((info) => transactionUpdate(slot, info)),
    rest: [...block.accounts.map(accountUpdate), blockMetaUpdate(block)],
  }
}

/** Occasionally adds transactions that cannot be decoded. */
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
