import type { BlockId } from './block-id.ts'
import type {
  BalanceRecord,
  KeptTransaction,
  TokenAccountLink,
  Undecoded,
  WalletEvent,
} from './event.ts'

/** A SOL/USD price: USD x 10^9 for one SOL, at a unix second (rule J7). */
export interface SolPrice {
  readonly time: number
  readonly usdE9: bigint
}

/**
 * Marks a sealed slot as complete (rules K2, K3). Each partition of the log has every marker: a
 * reader that has passed it has read all records of the partition up to that slot.
 */
export interface SlotMarker {
  readonly slot: number
  /** The previous slot of this chain. Slot numbers may be skipped. */
  readonly parent: number
  /** Unix seconds of the block. */
  readonly blockTime: number
  /**
   * The newest SOL/USD price of the price pool at or before this slot. A restart at this marker
   * therefore prices the next slot alike. Never a price from a file.
   */
  readonly solPrice: SolPrice | null
  /** The block that was sealed; null if its hash is not known. */
  readonly blockId: BlockId | null
  /**
   * The newest slot that was known to be final when this one was sealed (rule K9); null for none.
   * Withdrawals of slots up to it, and what replaces them, come before this marker on the log.
   */
  readonly finalized: number | null
}

/** Where ingest continues (rules K3, K9). */
export interface ResumePoint {
  /** The newest slot that needs no ingest; null: ingest starts with live slots. */
  readonly checkpoint: SlotMarker | null
  /** The newest slot that was known to be final at the checkpoint; null if that is not known. */
  readonly finalized: number | null
  /**
   * The markers of the chain up to the checkpoint that are not known to be final, oldest first. The
   * one before them comes first, if there is one.
   */
  readonly unfinalized: readonly SlotMarker[]
  /** Slots of `unfinalized` that every reader of the log withdraws. */
  readonly withdrawn: ReadonlySet<number>
  /** Slots after the checkpoint of which something was appended, but perhaps not everything. */
  readonly partial: readonly PartialSlot[]
  /** `Rewind.attempt` of the next rewind to the checkpoint. */
  readonly attempt: number
}

/** A sealed block that is on the log, and its transactions with events there. */
export interface AppendedBlock extends Pick<SlotMarker, 'slot' | 'blockTime' | 'blockId'> {
  /** Base58 signatures, in ascending order. */
  readonly signatures: readonly string[]
}

/** A slot that was perhaps not appended whole. */
export interface PartialSlot {
  readonly slot: number
  /** Its marker, if some reader may have it. */
  readonly marker: SlotMarker | null
}

/** A resume point of which nothing is known. */
export const LIVE_START: ResumePoint = {
  checkpoint: null,
  finalized: null,
  unfinalized: [],
  withdrawn: new Set(),
  partial: [],
  attempt: 1,
}

/**
 * Returns those of some markers that lead to `newest` by their parents, oldest first, `newest`
 * included. The others are of slots that left the chain.
 */
export function chainTo(newest: SlotMarker, markers: Iterable<SlotMarker>): SlotMarker[] {
  const chain: SlotMarker[] = [newest]
  let wanted = newest.parent
  for (const marker of [...markers].sort((a, b) => b.slot - a.slot)) {
    if (marker.slot > wanted) continue
    chain.push(marker)
    wanted = marker.parent
  }
  return chain.reverse()
}

/**
 * Says that a sealed block never became final, or that the process which appended it ended before
 * all of it was on the log (rule K9). Each partition of the log has it. All records of the slot
 * before it on a partition are void; those after it replace them.
 */
export interface Withdrawal {
  readonly slot: number
  /** The block that was sealed; null if its hash is not known. */
  readonly blockId: BlockId | null
  /** The price of the pool that came from this block and is void too; null for none. */
  readonly solPrice: SolPrice | null
  /** Set if the slot was perhaps not appended whole, so that it was not released to clients. */
  readonly rewind: Rewind | null
}

/**
 * How ingest goes on after a process that ended while it appended slots: every partition gets a
 * withdrawal of each slot after the checkpoint, with the same rewind. What is above them in a
 * partition is void, markers too.
 */
export interface Rewind {
  /** The newest slot that was appended whole; null for none. */
  readonly checkpoint: SlotMarker | null
  /** Counts the rewinds to this checkpoint, from 1. */
  readonly attempt: number
}

/** The slot of the checkpoint; -1 for none. */
export function checkpointSlot({ checkpoint }: Rewind): number {
  return checkpoint?.slot ?? -1
}

/** Whether a rewind is later than another one of the same log. */
export function isLater(rewind: Rewind, than: Rewind | null): boolean {
  if (than === null) return true
  const ahead = checkpointSlot(rewind) - checkpointSlot(than) || rewind.attempt - than.attempt
  return ahead > 0
}

/** A record that the decoder returns for a tracked wallet. */
export type DecodedRecord = WalletEvent | BalanceRecord | TokenAccountLink | Undecoded

/** A record of a tracked wallet's transaction on the log. */
export type WalletRecord = DecodedRecord | KeptTransaction

/**
 * A request to fold a wallet again from its stored events, after rows changed or became doubtful
 * (rules K1, K4).
 *
 * `revision` is the least revision that the new state must have: one above the stored revision at
 * the time of the request. A repeated or duplicated request therefore has no further effect.
 */
export interface RefoldRequest {
  readonly wallet: number
  readonly revision: number
}

/**
 * A sealed slot on the log: its records in event-key order. Records and marker are acknowledged
 * together.
 */
export interface SlotRecords {
  readonly marker: SlotMarker
  readonly records: readonly WalletRecord[]
}
