import { createHash } from 'node:crypto'
import type { SubscribeUpdateTransactionInfo } from '@triton-one/yellowstone-grpc'
import { encodeBase58 } from '../../pipeline/domain/base58.ts'
import type { Block } from './block.ts'
import type { SimulatedChain, TransactionMention } from './chain.ts'
import { keysOf } from './grpc/updates.ts'
import { keyId } from './market/key.ts'
import type { TroubleAt } from './options.ts'
import { hash32 } from './random.ts'

/**
 * Two blocks that nodes confirm and later give up. `replaced`: the finalized chain has other blocks
 * in both slots. `vanished`: it has none in `first`.
 */
export interface Fork {
  readonly kind: 'replaced' | 'vanished'
  /** The first slot of the fork. */
  readonly first: number
  /** The next produced slot of the finalized chain. */
  readonly second: number
}

/** Slots of which at most one begins a `replaced` fork, and how often one does. */
const WINDOW_SLOTS = 32
const REPLACED_EVERY = 2
/** One of this many dead slots is confirmed first. */
const VANISHED_EVERY = 3

/** The forks of a chain: a function of the seed and the slots. */
export class Forks {
  /** Whether the chain may have any. */
  readonly isOn: boolean
  readonly #chain: SimulatedChain
  readonly #seed: number
  readonly #troubleAt: TroubleAt

  constructor(
    chain: SimulatedChain,
    options: { readonly seed: number; readonly isOn: boolean; readonly troubleAt: TroubleAt },
  ) {
    this.isOn = options.isOn
    this.#chain = chain
    this.#seed = options.seed
    this.#troubleAt = options.troubleAt
  }

  /** The fork that has a block in this slot; null for none. */
  at(slot: number): Fork | null {
    return this.isOn ? (this.#vanishedAt(slot) ?? this.#replacedAt(slot)) : null
  }

  /** A block of a fork. It has the fork's transactions and the price of the other slot. */
  block(slot: number, { kind, first, second }: Fork): Block {
    const block = this.#chain.block(slot)
    const { accounts } = this.#chain.block(slot === first ? second : first)
    const moved = this.#transactions(first, second, kind)
    return {
      ...block,
      parent: slot === first ? block.parent : first,
      blockhash: this.#blockhash(slot),
      parentBlockhash: slot === first ? block.parentBlockhash : this.#blockhash(first),
      transactions: (slot === first ? moved.first : moved.second).map((info, index) => ({
        ...info,
        index: String(index),
      })),
      accounts: accounts.map((update) => ({ ...update, slot: String(slot) })),
    }
  }

  #vanishedAt(slot: number): Fork | null {
    const chain = this.#chain
    // A second dead slot between the same two blocks is not confirmed.
    const parent = chain.parent(slot)
    for (let first = chain.step(parent, 1); first <= slot; first = chain.step(first, 1)) {
      if (chain.kind(first) !== 'dead' || !this.#troubleAt('vanishedBlocks', first)) continue
      if (hash32(this.#seed, 'vanished', first) % VANISHED_EVERY !== 0) continue
      const second = chain.nextProduced(first, Number.MAX_SAFE_INTEGER)
      return second !== null && (slot === first || slot === second)
        ? { kind: 'vanished', first, second }
        : null
    }
    return null
  }

  #replacedAt(slot: number): Fork | null {
    const chain = this.#chain
    if (slot < chain.firstSlot || chain.kind(slot) !== 'produced') return null
    for (const first of [slot, chain.parent(slot)]) {
      if (first <= chain.firstSlot || !this.#begins(first)) continue
      const second = chain.nextProduced(first + 1, Number.MAX_SAFE_INTEGER)
      if (second === null || (slot !== first && slot !== second)) continue
      if (this.#vanishedAt(first) !== null || this.#vanishedAt(second) !== null) continue
      return { kind: 'replaced', first, second }
    }
    return null
  }

  /** Whether a `replaced` fork begins in a produced slot. The last slots of a window begin none. */
  #begins(slot: number): boolean {
    const window = Math.floor(slot / WINDOW_SLOTS)
    const hash = hash32(this.#seed, 'replaced', window)
    if (hash % REPLACED_EVERY !== 0 || !this.#troubleAt('replacedBlocks', slot)) return false
    const wanted = window * WINDOW_SLOTS + (Math.floor(hash / REPLACED_EVERY) % (WINDOW_SLOTS - 8))
    return slot >= wanted && this.#chain.parent(slot) < wanted
  }

  /**
   * Distributes the transactions of two blocks over the two blocks of a fork: about half of each
   * land in the other slot. A dead slot has those of the block after it.
   */
  #transactions(first: number, second: number, kind: Fork['kind']) {
    const later = this.#chain.block(second).transactions
    if (kind === 'vanished') return { first: later, second: [] }
    const moves = (slot: number, index: number) =>
      hash32(this.#seed, 'moved', slot, index) % 2 === 0
    const earlier = this.#chain.block(first).transactions
    const split = (list: readonly SubscribeUpdateTransactionInfo[], slot: number, moved: boolean) =>
      list.filter((_, index) => moves(slot, index) === moved)
    return {
      first: [...split(earlier, first, false), ...split(later, second, true)],
      second: [...split(earlier, first, true), ...split(later, second, false)],
    }
  }

  #blockhash(slot: number): string {
    return encodeBase58(createHash('sha256').update(`${this.#seed}/fork/${slot}`).digest())
  }
}

/**
 * The chain with its forks, as nodes show it. `isShown`: whether the blocks of a fork are shown
 * instead of the finalized ones.
 */
export function chainWithForks(
  chain: SimulatedChain,
  forks: Forks,
  isShown: (fork: Fork) => boolean,
): SimulatedChain {
  if (!forks.isOn) return chain
  const forkAt = (slot: number): Fork | null => {
    const fork = forks.at(slot)
    return fork !== null && isShown(fork) ? fork : null
  }
  const kind = (slot: number) => (forkAt(slot) === null ? chain.kind(slot) : 'produced')
  const block = memoLast((slot: number, fork: Fork) => forks.block(slot, fork))
  const transactions = (slot: number, fork: Fork) => block(slot, fork).transactions
  return {
    ...chain,
    kind,
    parent(slot) {
      const parent = chain.parent(slot)
      for (let at = chain.step(slot, -1); at > parent; at = chain.step(at, -1))
        if (kind(at) === 'produced') return at
      return parent
    },
    nextProduced(slot, last) {
      const next = chain.nextProduced(slot, last)
      for (let at = Math.max(slot, chain.firstSlot); at < (next ?? last + 1); at += 1)
        if (chain.kind(at) === 'dead' && kind(at) === 'produced') return at
      return next
    },
    block(slot) {
      const fork = forkAt(slot)
      return fork === null ? chain.block(slot) : block(slot, fork)
    },
    find(signature) {
      const place = chain.find(signature)
      const fork = place === null ? null : forkAt(place.slot)
      if (fork === null) return place
      const wanted = keyId(signature)
      for (const slot of [fork.first, fork.second]) {
        const index = transactions(slot, fork).findIndex((info) => keyId(info.signature) === wanted)
        if (index >= 0) return { slot, index }
      }
      return null
    },
    transaction(slot, index) {
      const fork = forkAt(slot)
      return fork === null ? chain.transaction(slot, index) : transactions(slot, fork)[index]
    },
    signature(slot, index) {
      const fork = forkAt(slot)
      return fork === null
        ? chain.signature(slot, index)
        : transactions(slot, fork)[index]!.signature
    },
    signatures(slot) {
      const fork = forkAt(slot)
      return fork === null
        ? chain.signatures(slot)
        : transactions(slot, fork).map(({ signature }) => signature)
    },
    *mentionsDown(id, from, last) {
      let to = from
      // Forks that are shown lie within the slots that are not finalized.
      for (let slot = from; slot >= Math.max(last, from - LONGEST_VIEW); slot -= 1) {
        const fork = forkAt(slot)
        if (fork === null) continue
        if (slot < to) yield* chain.mentionsDown(id, to, slot + 1)
        yield* mentionsIn(transactions(slot, fork), slot, id)
        to = slot - 1
      }
      if (to >= last) yield* chain.mentionsDown(id, to, last)
    },
  }
}

/** More than the slots from the newest finalized one to the newest. */
const LONGEST_VIEW = 64

function* mentionsIn(
  transactions: readonly SubscribeUpdateTransactionInfo[],
  slot: number,
  id: string,
): Generator<TransactionMention> {
  for (const [index, info] of [...transactions.entries()].reverse())
    if (keysOf(info).named.has(id)) yield { slot, index, failed: info.meta?.err !== undefined }
}

/** Remembers the result for the last slot. */
function memoLast(make: (slot: number, fork: Fork) => Block) {
  let last: Block | null = null
  return (slot: number, fork: Fork) => {
    if (last?.slot !== slot) last = make(slot, fork)
    return last
  }
}
