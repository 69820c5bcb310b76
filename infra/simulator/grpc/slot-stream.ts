import { CommitmentLevel, SlotStatus } from '@triton-one/yellowstone-grpc'
import type { SimulatedChain } from '../chain.ts'
import type { SlotUpdates } from './slot-updates.ts'
import type { StreamUpdate } from './updates.ts'

/** Slots from a block to its confirmation. */
export const CONFIRM_DELAY_SLOTS = 1
/** Slots from a block to its finalization. */
export const FINALIZE_DELAY_SLOTS = 32

/** The updates of a chain in the order of the stream, as of its newest slot. */
export interface SlotStream {
  /** Goes on to a slot that is over. */
  moveTo(slot: number): void
  /** Forgets everything before a slot: it can no longer be replayed. */
  forgetBefore(slot: number): void
  /** The newest slot that has reached a commitment, produced or not. */
  reached(commitment: CommitmentLevel): number
  /** The first slot that can be replayed. */
  firstAvailable(): number
  /** Everything that the end of the newest slot brings to a subscriber of this commitment. */
  live(commitment: CommitmentLevel): readonly StreamUpdate[]
  /** A slot's data, meta and the statuses that it has reached, as `from_slot` replays them. */
  replay(slot: number, commitment: CommitmentLevel): readonly StreamUpdate[]
}

/**
 * Creates the stream of a chain; `startSlot` is the newest slot that is over. It can replay the last
 * `replaySlots`.
 */
export function createSlotStream(
  chain: SimulatedChain,
  slots: SlotUpdates,
  startSlot: number,
  replaySlots: number,
): SlotStream {
  let newest = startSlot
  let forgottenBefore = 0
  const confirmed = () => chain.step(newest, -CONFIRM_DELAY_SLOTS)
  const finalized = () => chain.step(newest, -FINALIZE_DELAY_SLOTS)
  const reached = (commitment: CommitmentLevel): number => {
    if (commitment === CommitmentLevel.CONFIRMED) return confirmed()
    return commitment === CommitmentLevel.FINALIZED ? finalized() : newest
  }
  const isKind = (slot: number, kind: 'produced' | 'dead'): boolean =>
    slot >= chain.firstSlot && chain.kind(slot) === kind
  const isProduced = (slot: number) => isKind(slot, 'produced')

  /** The data that a slot brings when it reaches a commitment. */
  const dataOf = (slot: number): readonly StreamUpdate[] => {
    if (slot < chain.firstSlot) return []
    if (chain.kind(slot) === 'skipped') return slots.late(slot)
    return [...slots.late(slot), ...slots.data(slot, slot)]
  }

  /** The newest slot's statuses, with its data for a subscriber of `processed`. */
  const processedUpdates = (commitment: CommitmentLevel): StreamUpdate[] => {
    if (!isProduced(newest) && !isKind(newest, 'dead')) return []
    const data = commitment === CommitmentLevel.PROCESSED ? dataOf(newest) : []
    return [
      ...FIRST_STATUSES.map((status) => slots.status(newest, status)),
      ...data,
      slots.status(newest, SlotStatus.SLOT_PROCESSED),
    ]
  }

  const confirmedUpdates = (commitment: CommitmentLevel): StreamUpdate[] => {
    const slot = confirmed()
    const data = commitment === CommitmentLevel.CONFIRMED ? dataOf(slot) : []
    if (isProduced(slot)) return [...data, slots.status(slot, SlotStatus.SLOT_CONFIRMED)]
    if (isKind(slot, 'dead')) return [...data, slots.status(slot, SlotStatus.SLOT_DEAD)]
    return [...data]
  }

  const finalizedUpdates = (commitment: CommitmentLevel): StreamUpdate[] => {
    const slot = finalized()
    if (!isProduced(slot)) return []
    const data = commitment === CommitmentLevel.FINALIZED ? dataOf(slot) : []
    return [...data, slots.status(slot, SlotStatus.SLOT_FINALIZED)]
  }

  return {
    moveTo(slot) {
      newest = slot
    },
    forgetBefore(slot) {
      forgottenBefore = slot
    },
    reached,
    firstAvailable: () =>
      Math.max(chain.step(newest, 1 - replaySlots), forgottenBefore, chain.firstSlot),
    live: (commitment) => [
      ...processedUpdates(commitment),
      ...confirmedUpdates(commitment),
      ...finalizedUpdates(commitment),
    ],
    replay(slot, commitment) {
      if (!isProduced(slot)) return []
      const statuses = [SlotStatus.SLOT_PROCESSED]
      if (slot <= confirmed()) statuses.push(SlotStatus.SLOT_CONFIRMED)
      if (slot <= finalized()) statuses.push(SlotStatus.SLOT_FINALIZED)
      return [
        ...slots.data(slot, reached(commitment)),
        ...statuses.map((status) => slots.status(slot, status)),
      ]
    },
  }
}

/** Statuses that a slot passes before `processed`. */
const FIRST_STATUSES = [
  SlotStatus.SLOT_FIRST_SHRED_RECEIVED,
  SlotStatus.SLOT_CREATED_BANK,
  SlotStatus.SLOT_COMPLETED,
] as const
