import type { SlotRecords, WalletRecord, Withdrawal } from '../domain/slot.ts'
import { aChain, type RecordChain } from './a-chain.ts'

/** A slot that is sealed with a block that never becomes final. */
export interface ForkedSlot {
  /** The slot as it is sealed. */
  readonly sealed: SlotRecords
  /** The withdrawal follows once this many slots of the chain have passed. */
  readonly afterSlots: number
  readonly withdrawal: Withdrawal
  /** Records of the finalized block; none if the finalized chain has no block in the slot. */
  readonly final: readonly WalletRecord[]
}

/** A chain of which some slots were sealed with other blocks. */
export interface ForkedChain {
  /** The finalized chain. */
  readonly truth: RecordChain
  /** What is sealed and comes late. */
  readonly seen: RecordChain
  readonly forks: readonly ForkedSlot[]
}

/** Every so many slots one is replaced or vanishes, and is withdrawn so much later. */
const EVERY = 2
const DELAY = 2

/**
 * Returns a random chain in which every second slot is withdrawn: in turn because the finalized
 * chain has no block there, and because it has another one. The same options give the same chain.
 */
export function aForkedChain(options: Parameters<typeof aChain>[0]): ForkedChain {
  const chain = aChain(options)
  const other = aChain({ ...options, seed: options.seed + 1000 })
  const forks = new Map<number, ForkedSlot>()
  const voided = new Set<number>()
  for (let at = EVERY; at < chain.slots.length - DELAY; at += EVERY) {
    const slot = chain.slots[at]
    const wrong = other.slots[at]
    if (slot === undefined || wrong === undefined) continue
    const vanishes = (at / EVERY) % 2 === 1
    if (vanishes) voided.add(slot.marker.slot)
    const final = vanishes ? [] : allRecords(chain, slot)
    const times = chain.slots.filter(({ marker }) => marker.solPrice?.time === priceTime(slot))
    forks.set(at, forkOf(slot, wrong, { final, afterSlots: at + DELAY, isOwn: times.length === 1 }))
  }
  const forked = new Set([...forks.values()].map(({ sealed }) => sealed.marker.slot))
  const late = (slots: ReadonlySet<number>) =>
    chain.late.map((group) => ({
      ...group,
      records: group.records.filter(({ slot }) => !slots.has(slot)),
    }))
  return {
    truth: {
      slots: chain.slots
        .filter(({ marker }) => !voided.has(marker.slot))
        .map((slot) => withoutPrice(slot, [...forks.values()])),
      late: late(voided),
    },
    seen: {
      slots: chain.slots.map((slot, at) => forks.get(at)?.sealed ?? slot),
      late: late(forked),
    },
    forks: [...forks.values()],
  }
}

function forkOf(
  { marker }: SlotRecords,
  wrong: SlotRecords,
  options: Pick<ForkedSlot, 'final' | 'afterSlots'> & {
    /** Whether no other slot has the price of the marker. */
    readonly isOwn: boolean
  },
): ForkedSlot {
  const { final, afterSlots, isOwn } = options
  const { slot, blockTime } = marker
  const solPrice =
    isOwn && marker.solPrice ? { time: marker.solPrice.time, usdE9: 99n } : marker.solPrice
  const blockId = marker.blockId === null ? null : marker.blockId + 1_000_000n
  const records = wrong.records.map((record) => ({ ...record, slot, blockTime }))
  return {
    sealed: { marker: { ...marker, blockId, solPrice }, records },
    afterSlots,
    withdrawal: { slot, blockId, solPrice: isOwn ? solPrice : null, rewind: null },
    final,
  }
}

function allRecords(chain: RecordChain, { marker, records }: SlotRecords): WalletRecord[] {
  const late = chain.late.flatMap((group) => group.records)
  return [...records, ...late.filter(({ slot }) => slot === marker.slot)]
}

const priceTime = ({ marker }: SlotRecords) => marker.solPrice?.time

/** RPC has no price of the pool, so a replaced slot has none of its own. */
function withoutPrice(slot: SlotRecords, forks: readonly ForkedSlot[]): SlotRecords {
  const fork = forks.find(({ sealed }) => sealed.marker.slot === slot.marker.slot)
  if (!fork?.withdrawal.solPrice) return slot
  return { ...slot, marker: { ...slot.marker, solPrice: null } }
}
