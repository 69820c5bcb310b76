import { SlotStatus } from '@triton-one/yellowstone-grpc'
import { LRUCache } from 'lru-cache'
import type { Block } from '../block.ts'
import type { SimulatedChain } from '../chain.ts'
import type { Fork, Forks } from '../forks.ts'
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

/** Chains and trouble of `SlotUpdates`. */
export interface SlotUpdatesOptions {
  /** The finalized chain. */
  readonly chain: SimulatedChain
  /** The chain with its forks. */
  readonly view: SimulatedChain
  readonly forks: Forks
  readonly seed: number
  readonly troubleAt: TroubleAt
  readonly omissions: Omissions
}

/**
 * The updates of a chain's slots, in the order in which they are sent, with the trouble that is on.
 * The same slot always gives the same updates. `isFinal`: those of the finalized chain, instead of
 * those of a fork.
 */
export class SlotUpdates {
  readonly #options: SlotUpdatesOptions
  readonly #blocks: LRUCache<number, BlockUpdates>
  /** The finalized blocks of slots in which a fork has another one. */
  readonly #finalBlocks: LRUCache<number, BlockUpdates>

  /** Caches the encoded updates of `remembered` slots. */
  constructor(options: SlotUpdatesOptions, remembered: number) {
    const { chain, view } = options
    this.#options = options
    const cache = (of: SimulatedChain) =>
      new LRUCache<number, BlockUpdates>({
        max: remembered,
        memoMethod: (slot) => updatesOf(slot, of.block(slot)),
      })
    this.#blocks = cache(view)
    this.#finalBlocks = cache(chain)
  }

  /** The fork that has a block in a slot; null for none. */
  forkAt(slot: number): Fork | null {
    return this.#options.forks.at(slot)
  }

  /** The transactions of a block that the stream never sends, by index. */
  omitted(slot: number, isFinal = false): ReadonlyMap<number, Omission> {
    return this.#options.omissions.of(slot, this.#block(slot, isFinal).transactions)
  }

  #block(slot: number, isFinal: boolean): BlockUpdates {
    return (isFinal && this.forkAt(slot) !== null ? this.#finalBlocks : this.#blocks).memo(slot)
  }

  #chain(isFinal: boolean): SimulatedChain {
    return isFinal ? this.#options.chain : this.#options.view
  }

  /**
   * A block's transactions, accounts and meta, as the stream sends them together. `until` is the
   * newest confirmed slot: a late transaction is left out until its slot is reached.
   */
  data(slot: number, until: number, isFinal: boolean): readonly StreamUpdate[] {
    const { seed, troubleAt } = this.#options
    const { transactions, rest } = this.#block(slot, isFinal)
    const random = createRandom(seed, 'trouble', slot)
    const isOn = (trouble: keyof Trouble) => troubleAt(trouble, slot)
    const omitted = this.omitted(slot, isFinal)
    const updates: StreamUpdate[] = transactions.filter(
      (_, index) => !omitted.has(index) && this.#comesWith(slot, index, isFinal) <= until,
    )
    if (isOn('shuffle')) random.shuffle(updates)
    if (isOn('duplicates')) {
      for (const update of [...updates])
        if (random.chance(0.15)) insertAnywhere(updates, update, random)
      this.#repeatEarlier(slot, { until, isFinal }, updates, random)
    }
    if (isOn('garbage')) insertGarbage(slot, transactions, updates, random)
    if (!isOn('metaFirst')) return [...updates, ...rest]
    const at = random.below(updates.length + 1)
    return [...updates.slice(0, at), ...rest, ...updates.slice(at)]
  }

  /** Late transactions of earlier slots that are sent with this slot. */
  late(slot: number, isFinal: boolean): readonly StreamUpdate[] {
    const chain = this.#chain(isFinal)
    const found: StreamUpdate[] = []
    for (let back = LATE_SLOTS.most; back >= LATE_SLOTS.least; back -= 1) {
      const earlier = chain.step(slot, -back)
      if (!this.#options.troubleAt('late', earlier)) continue
      if (earlier < chain.firstSlot || chain.kind(earlier) !== 'produced') continue
      const omitted = this.omitted(earlier, isFinal)
      this.#block(earlier, isFinal).transactions.forEach((update, index) => {
        const isDue = this.#comesWith(earlier, index, isFinal) === slot
        if (isDue && !omitted.has(index)) found.push(update)
      })
    }
    return found
  }

  status(slot: number, status: SlotStatus, isFinal: boolean): StreamUpdate {
    const dead = status === SlotStatus.SLOT_DEAD ? 'fork was given up' : undefined
    return slotUpdate(slot, this.#chain(isFinal).parent(slot), status, dead)
  }

  /** The slot whose updates a transaction is sent with: its own slot, unless it is late. */
  #comesWith(slot: number, index: number, isFinal: boolean): number {
    const { seed, troubleAt } = this.#options
    const chain = this.#chain(isFinal)
    if (!troubleAt('late', slot) || chain.kind(slot) !== 'produced') return slot
    if (!comesLate(seed, slot, index)) return slot
    const hash = hash32(seed, 'late', slot, index)
    const delay = LATE_SLOTS.least + (Math.floor(hash / 25) % (LATE_SLOTS.most - LATE_SLOTS.least))
    return chain.step(slot, delay)
  }

  /** Occasionally repeats a transaction of the previous block before the updates. */
  #repeatEarlier(
    slot: number,
    { until, isFinal }: { readonly until: number; readonly isFinal: boolean },
    updates: StreamUpdate[],
    random: Random,
  ): void {
    const chain = this.#chain(isFinal)
    const earlier = chain.kind(slot) === 'produced' ? chain.parent(slot) : slot
    if (earlier === slot || earlier < chain.firstSlot) return
    const { transactions } = this.#block(earlier, isFinal)
    if (transactions.length === 0 || !random.chance(0.3)) return
    const index = random.below(transactions.length)
    const isOmitted = this.omitted(earlier, isFinal).has(index)
    if (!isOmitted && this.#comesWith(earlier, index, isFinal) <= until)
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
