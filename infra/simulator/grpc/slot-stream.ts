import { CommitmentLevel, SlotStatus } from '@triton-one/yellowstone-grpc'
import type { SimulatedChain } from '../chain.ts'
import type { SlotKind } from '../chain-shape.ts'
import type { SlotUpdates } from './slot-updates.ts'
import type { StreamUpdate } from './updates.ts'

/** Slots from a block to its confirmation. */
export const CONFIRM_DELAY_SLOTS = 1
/** Slots from a block to its finalization. */
export const FINALIZE_DELAY_SLOTS = 32

const { PROCESSED, CONFIRMED, FINALIZED } = CommitmentLevel
const LEVELS = [PROCESSED, CONFIRMED, FINALIZED] as const

/** The status that a slot gets when it reaches a commitment. */
const STATUSES: Readonly<Record<(typeof LEVELS)[number], { [kind in SlotKind]?: SlotStatus }>> = {
  [PROCESSED]: { produced: SlotStatus.SLOT_PROCESSED, dead: SlotStatus.SLOT_PROCESSED },
  [CONFIRMED]: { produced: SlotStatus.SLOT_CONFIRMED, dead: SlotStatus.SLOT_DEAD },
  [FINALIZED]: { produced: SlotStatus.SLOT_FINALIZED },
}

/**
 * The updates of a chain in the order of the stream, as of its newest slot. A fork that nodes
 * confirmed is shown until it is given up.
 */
export class SlotStream {
  readonly #chain: SimulatedChain
  /** The chain with its forks. */
  readonly #view: SimulatedChain
  readonly #slots: SlotUpdates
  readonly #replaySlots: number
  #newest: number
  #forgottenBefore = 0

  /** `startSlot` is the newest slot that is over. The last `replaySlots` can be replayed. */
  constructor(
    { chain, view }: { readonly chain: SimulatedChain; readonly view: SimulatedChain },
    slots: SlotUpdates,
    startSlot: number,
    replaySlots: number,
  ) {
    this.#chain = chain
    this.#view = view
    this.#slots = slots
    this.#newest = startSlot
    this.#replaySlots = replaySlots
  }

  /** Advances to a slot that has ended. */
  moveTo(slot: number): void {
    this.#newest = slot
  }

  /** Deletes the updates before a slot, which can then no longer be replayed. */
  forgetBefore(slot: number): void {
    this.#forgottenBefore = slot
  }

  /** The newest slot that has reached a commitment, produced or not. */
  reached(commitment: CommitmentLevel): number {
    if (commitment === PROCESSED) return this.#newest
    const delay = commitment === CONFIRMED ? CONFIRM_DELAY_SLOTS : FINALIZE_DELAY_SLOTS
    return this.#chain.step(this.#newest, -delay)
  }

  /** The first slot that can be replayed. */
  firstAvailable(): number {
    const first = this.#chain.step(this.#newest, 1 - this.#replaySlots)
    return Math.max(first, this.#forgottenBefore, this.#chain.firstSlot)
  }

  /** Everything that the end of the newest slot brings to a subscriber of this commitment. */
  live(commitment: CommitmentLevel): readonly StreamUpdate[] {
    return LEVELS.flatMap((level) => {
      const slot = this.reached(level)
      const isFinal = level === FINALIZED
      const status = STATUSES[level][this.#kind(slot, isFinal)]
      if (status === undefined && level !== CONFIRMED) return []
      const first = level === PROCESSED ? FIRST_STATUSES : []
      return [
        ...first.map((one) => this.#slots.status(slot, one, isFinal)),
        ...(level === commitment ? this.#dataOf(slot, isFinal) : []),
        ...(status === undefined ? [] : [this.#slots.status(slot, status, isFinal)]),
      ]
    })
  }

  /** A slot's data, meta and the statuses that it has reached, as `from_slot` replays them. */
  replay(slot: number, commitment: CommitmentLevel): readonly StreamUpdate[] {
    const isFinal = this.#isResolved(slot)
    if (this.#kind(slot, isFinal) !== 'produced') return []
    const statuses = [SlotStatus.SLOT_PROCESSED]
    if (slot <= this.reached(CONFIRMED)) statuses.push(SlotStatus.SLOT_CONFIRMED)
    if (slot <= this.reached(FINALIZED)) statuses.push(SlotStatus.SLOT_FINALIZED)
    return [
      ...this.#slots.data(slot, this.reached(commitment), isFinal),
      ...statuses.map((status) => this.#slots.status(slot, status, isFinal)),
    ]
  }

  /** Whether the finalized chain has passed a slot, and the fork that had a block there. */
  #isResolved(slot: number): boolean {
    return (this.#slots.forkAt(slot)?.first ?? slot) <= this.reached(FINALIZED)
  }

  #kind(slot: number, isFinal: boolean): SlotKind {
    if (slot < this.#chain.firstSlot) return 'skipped'
    return isFinal ? this.#chain.kind(slot) : this.#view.kind(slot)
  }

  /** The data that a slot brings when it reaches a commitment. */
  #dataOf(slot: number, isFinal: boolean): readonly StreamUpdate[] {
    if (slot < this.#chain.firstSlot) return []
    const late = this.#slots.late(slot, isFinal)
    if (this.#kind(slot, isFinal) === 'skipped') return late
    return [...late, ...this.#slots.data(slot, slot, isFinal)]
  }
}

/** Statuses that a slot passes before `processed`. */
const FIRST_STATUSES = [
  SlotStatus.SLOT_FIRST_SHRED_RECEIVED,
  SlotStatus.SLOT_CREATED_BANK,
  SlotStatus.SLOT_COMPLETED,
] as const
