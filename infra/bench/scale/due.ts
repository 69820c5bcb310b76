import { CONFIRM_DELAY_SLOTS } from '../../simulator/grpc/slot-stream.ts'
import { GENESIS_MS, SLOT_MS } from '../../simulator/market/slot-time.ts'

/** Unix milliseconds at which a simulator that follows the wall clock confirms a slot. */
export function confirmedAt(slot: number): number {
  return GENESIS_MS + (slot + 1 + CONFIRM_DELAY_SLOTS) * SLOT_MS
}

/** The newest slot that is confirmed at a time, in unix milliseconds. */
export function confirmedSlot(ms: number): number {
  return Math.floor((ms - GENESIS_MS) / SLOT_MS) - 1 - CONFIRM_DELAY_SLOTS
}

/** The last slot with a block time, in unix seconds. */
export function lastSlotOf(blockTime: number): number {
  return Math.ceil(((blockTime + 1) * 1000 - GENESIS_MS) / SLOT_MS) - 1
}
