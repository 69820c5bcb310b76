import { createHash } from 'node:crypto'
import type { SubscribeUpdateTransactionInfo } from '@triton-one/yellowstone-grpc'
import bs58 from 'bs58'
import type { Block } from '../block.ts'
import type { Chain, OwnedTokenAccount } from '../chain.ts'
import type { ChainShape, SlotKind } from '../chain-shape.ts'
import { keysOf } from '../grpc/updates.ts'
import { keyId } from '../market/key.ts'
import type { RecordedOptions } from '../options.ts'
import type { RecordedBlock } from './load.ts'

/** Blocks that were recorded, as a chain: one after the other, then empty blocks for ever. */
export interface RecordedChain extends Chain {
  /** The slot before the first one that is played. */
  readonly before: number
  /** The last slot that holds recorded transactions. */
  readonly last: number
}

interface Entry {
  readonly slot: number
  readonly kind: SlotKind
  /** Of a dead slot: what the next one holds again. */
  readonly content: Content | null
}

interface Content {
  readonly transactions: readonly SubscribeUpdateTransactionInfo[]
  readonly time: number
  readonly blockhash: string
  /** As recorded; null for parts of a block that was split. */
  readonly parent: number | null
}

/** Slots of 400 ms: how times go on after the last block, and where times are given anew. */
const SLOT_SECONDS = 0.4

/**
 * Makes the chain. Slots keep their recorded numbers, so that between two blocks numbers are skipped, unless `renumberFrom` says where to begin;
 * `split` cuts each block into that many slots; `timeFrom` gives block times anew. The shape says which numbers among them are skipped or dead.
 */
export function createRecordedChain(
  blocks: readonly RecordedBlock[],
  options: RecordedOptions,
  shape: ChainShape,
): RecordedChain {
  const contents = blocks.flatMap((block) => splitBlock(block, options.split ?? 1))
  const played =
    options.renumberFrom === undefined && (options.split ?? 1) === 1
      ? ownNumbers(blocks, contents, shape)
      : newNumbers(options.renumberFrom ?? blocks[0]!.slot, contents, shape)
  const entries = [...leadIn(played[0]!.slot, contents[0]!.time, options.leadIn ?? 0), ...played]
  const bySlot = new Map(entries.map((entry, position) => [entry.slot, position]))
  const produced = entries.filter((entry) => entry.kind === 'produced')
  const first = produced[0]!
  const last = entries.at(-1)!
  const lastTime = last.content!.time
  const places = new Map<string, { slot: number; index: number }>()
  for (const { slot, content } of produced) {
    content!.transactions.forEach((info, index) => {
      places.set(keyId(info.signature), { slot, index })
    })
  }

  const kind = (slot: number): SlotKind => {
    if (slot > last.slot) return shape.kind(slot)
    const position = bySlot.get(slot)
    return position === undefined ? 'skipped' : entries[position]!.kind
  }
  // The recorded parent of the first block, unless a dead slot has taken its number.
  const firstParent =
    entries[0] === first ? (first.content!.parent ?? first.slot - 1) : entries[0]!.slot - 1
  const parent = (slot: number): number => {
    if (slot <= first.slot) return Math.min(firstParent, slot - 1)
    if (slot > last.slot) return Math.max(shape.parent(slot), last.slot)
    return produced.findLast((entry) => entry.slot < slot)!.slot
  }
  const contentOf = (slot: number): Content => {
    const position = bySlot.get(slot)
    const content = position === undefined ? null : entries[position]!.content
    if (content !== null) return content
    return {
      transactions: [],
      time: lastTime + Math.floor((slot - last.slot) * SLOT_SECONDS),
      blockhash: madeUpHash(slot),
      parent: null,
    }
  }
  const blockhash = (slot: number) =>
    slot < first.slot ? madeUpHash(slot) : contentOf(slot).blockhash
  const timeOf = (slot: number): number => {
    if (options.timeFrom === undefined) return contentOf(slot).time
    const position = bySlot.get(slot) ?? entries.length - 1 + (slot - last.slot)
    return options.timeFrom + Math.floor(position * SLOT_SECONDS)
  }

  return {
    before: entries[0]!.slot - 1,
    last: last.slot,
    firstSlot: entries[0]!.slot,
    kind,
    parent,
    step(slot, steps) {
      const at =
        slot > last.slot ? entries.length - 1 + (slot - last.slot) : positionOf(entries, slot)
      const to = at + steps
      if (to < 0) return entries[0]!.slot + to
      return to < entries.length ? entries[to]!.slot : last.slot + (to - entries.length + 1)
    },
    nextProduced(slot, limit) {
      for (const entry of produced) {
        if (entry.slot >= slot) return entry.slot <= limit ? entry.slot : null
      }
      const found = shape.atOrAfter(Math.max(slot, last.slot + 1))
      return found <= limit ? found : null
    },
    block(slot): Block {
      const content = contentOf(slot)
      const parentSlot = parent(slot)
      const dead = kind(slot) === 'dead'
      return {
        slot,
        parent: parentSlot,
        blockhash: dead ? madeUpHash(-slot) : content.blockhash,
        parentBlockhash: blockhash(parentSlot),
        time: timeOf(slot),
        height: slot - Math.floor(first.slot / 10),
        transactions: content.transactions,
        accounts: [],
      }
    },
    find: (signature) => places.get(keyId(signature)) ?? null,
    transaction: (slot, index) => contentOf(slot).transactions[index],
    signature: (slot, index) => contentOf(slot).transactions[index]!.signature,
    signatures: (slot) => contentOf(slot).transactions.map(({ signature }) => signature),
    *mentionsDown(id, from, limit) {
      for (const { slot, content } of produced.toReversed()) {
        if (slot > from) continue
        if (slot < limit) return
        yield null
        const { transactions } = content!
        for (let index = transactions.length - 1; index >= 0; index -= 1) {
          const info = transactions[index]!
          if (keysOf(info).named.has(id))
            yield { slot, index, failed: info.meta?.err !== undefined }
        }
      }
    },
    account: () => null,
    tokenAccounts(owner, slot) {
      const found = new Map<string, OwnedTokenAccount | null>()
      for (const entry of produced) {
        if (entry.slot > slot) break
        for (const info of entry.content!.transactions) {
          for (const account of accountsAfter(info, owner)) found.set(account.address, account)
        }
      }
      return [...found.values()].filter((account) => account !== null)
    },
  }
}

/** Empty blocks before the first slot, each 0.4 s before the next. */
function leadIn(first: number, time: number, slots: number): Entry[] {
  return Array.from({ length: slots }, (_, position): Entry => {
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

/** Where a slot is in the list, or would be: the position of the last entry at or before it. */
function positionOf(entries: readonly Entry[], slot: number): number {
  let found = slot - entries[0]!.slot
  for (let i = 0; i < entries.length && entries[i]!.slot <= slot; i += 1) found = i
  return found
}

/** Cuts a block into parts of equal length, each with indexes of its own. */
function splitBlock(block: RecordedBlock, parts: number): Content[] {
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

/** Recorded numbers. Where the shape has dead or skipped slots, they are put on the free numbers before each block. */
function ownNumbers(
  blocks: readonly RecordedBlock[],
  contents: readonly Content[],
  shape: ChainShape,
): Entry[] {
  const troubled = ['skipped', 'dead'] as const
  const kinds = troubled.filter((kind) =>
    Array.from({ length: 32 }, (_, slot) => shape.kind(slot)).includes(kind),
  )
  return blocks.flatMap((block, i): Entry[] => {
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

function newNumbers(from: number, contents: readonly Content[], shape: ChainShape): Entry[] {
  const entries: Entry[] = []
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

function madeUpHash(slot: number): string {
  return bs58.encode(createHash('sha256').update(`recorded/${slot}`).digest())
}

function accountsAfter(info: SubscribeUpdateTransactionInfo, owner: string): OwnedTokenAccount[] {
  const { meta, transaction } = info
  if (meta === undefined || meta.err !== undefined) return []
  const keys = [
    ...(transaction?.message?.accountKeys ?? []),
    ...meta.loadedWritableAddresses,
    ...meta.loadedReadonlyAddresses,
  ]
  return meta.postTokenBalances.flatMap((balance) => {
    if (balance.owner !== owner) return []
    return [
      {
        address: bs58.encode(keys[balance.accountIndex]!),
        mint: balance.mint,
        owner,
        program: balance.programId,
        amount: BigInt(balance.uiTokenAmount?.amount ?? '0'),
        decimals: balance.uiTokenAmount?.decimals ?? 0,
        lamports: BigInt(meta.postBalances[balance.accountIndex] ?? '0'),
      },
    ]
  })
}
