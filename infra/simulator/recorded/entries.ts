import { createHash } from 'node:crypto'
import type { SubscribeUpdateTransactionInfo } from '@triton-one/yellowstone-grpc'
import bs58 from 'bs58'
import type { ChainShape, SlotKind } from '../chain-shape.ts'
import type { RecordedOptions } from '../options.ts'
import type { RecordedBlock } from './load.ts'

/** A slot of recorded blocks. */
export interface RecordedEntry {
  readonly slot: number
  readonly kind: SlotKind
  /** Content of the block. A dead slot has the same content as the next block. */
  readonly content: RecordedContent | null
}

/** The content of a block. */
export interface RecordedContent {
  readonly transactions: readonly SubscribeUpdateTransactionInfo[]
  /** Unix seconds. */
  readonly time: number
  readonly blockhash: string
  /** The recorded parent; null for parts of a block that was split. */
  readonly parent: number | null
}

/** Length of a slot, by which block times go on after the last block. */
export const SLOT_SECONDS = 0.4

/**
 * The slots that the options make of recorded blocks, in order. Slots keep their recorded numbers,
 * unless blocks are split.
 */
export function createEntries(
  blocks: readonly RecordedBlock[],
  options: RecordedOptions,
  shape: ChainShape,
): RecordedEntry[] {
  const parts = options.split ?? 1
  const contents = blocks.flatMap((block) => splitBlock(block, parts))
  const entries =
    parts === 1 ? ownNumbers(blocks, contents, shape) : newNumbers(blocks[0]!.slot, contents, shape)
  return [...leadIn(entries[0]!.slot, contents[0]!.time, options.leadIn ?? 0), ...entries]
}

/** Empty blocks before the first slot, 0.4 s apart. */
function leadIn(first: number, time: number, slots: number): RecordedEntry[] {
  return Array.from({ length: slots }, (_, position): RecordedEntry => {
    const slot = first - slots + position
    const before = Math.ceil((slots - position) * SLOT_SECONDS)
    const content = {
      transactions: [],
      time: time - before,
      blockhash: madeUpHash(slot),
      parent: null,
    }
    return { slot, kind: 'produced', content }
  })
}

/**
 * Position of the last entry at or before a slot; before the first entry, the position that it
 * would have if numbers went on downwards.
 */
export function positionOf(entries: readonly RecordedEntry[], slot: number): number {
  let found = slot - entries[0]!.slot
  for (let i = 0; i < entries.length && entries[i]!.slot <= slot; i += 1) found = i
  return found
}

/** Cuts a block into parts of equal length; transaction indexes begin at 0 in each. */
function splitBlock(block: RecordedBlock, parts: number): RecordedContent[] {
  if (parts === 1) {
    const { transactions, time, blockhash, parent } = block
    return [{ transactions, time, blockhash, parent }]
  }
  const size = Math.ceil(block.transactions.length / parts)
  return Array.from({ length: parts }, (_, part) => ({
    transactions: block.transactions
      .slice(part * size, (part + 1) * size)
      .map((info, index) => ({ ...info, index: String(index) })),
    time: block.time,
    blockhash: part === parts - 1 ? block.blockhash : madeUpHash(block.slot + part / parts),
    parent: null,
  }))
}

/**
 * Keeps the recorded slot numbers. Where the shape has dead or skipped slots, they take free
 * numbers before each block.
 */
function ownNumbers(
  blocks: readonly RecordedBlock[],
  contents: readonly RecordedContent[],
  shape: ChainShape,
): RecordedEntry[] {
  const troubled = ['skipped', 'dead'] as const
  const kinds = troubled.filter((kind) =>
    Array.from({ length: 32 }, (_, slot) => shape.kind(slot)).includes(kind),
  )
  return blocks.flatMap((block, i): RecordedEntry[] => {
    const content = contents[i]!
    const free = block.slot - (blocks[i - 1]?.slot ?? 0) - 1
    const extra = kinds.slice(0, Math.min(free, kinds.length))
    return [
      ...extra.map((kind, position) => ({
        slot: block.slot - extra.length + position,
        kind,
        content: kind === 'dead' ? content : null,
      })),
      { slot: block.slot, kind: 'produced' as const, content },
    ]
  })
}

/**
 * Numbers the blocks anew, one after the other; the shape says which numbers are skipped or dead.
 */
function newNumbers(
  from: number,
  contents: readonly RecordedContent[],
  shape: ChainShape,
): RecordedEntry[] {
  const entries: RecordedEntry[] = []
  let slot = from
  for (const content of contents) {
    for (; shape.kind(slot) !== 'produced'; slot += 1) {
      const kind = shape.kind(slot)
      entries.push({ slot, kind, content: kind === 'dead' ? content : null })
    }
    entries.push({ slot, kind: 'produced', content: { ...content, parent: null } })
    slot += 1
  }
  return entries
}

/** A blockhash for a slot that has no recorded one. */
export function madeUpHash(slot: number): string {
  return bs58.encode(createHash('sha256').update(`recorded/${slot}`).digest())
}
