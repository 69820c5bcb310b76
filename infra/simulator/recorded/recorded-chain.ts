import type { SubscribeUpdateTransactionInfo } from '@triton-one/yellowstone-grpc'
import bs58 from 'bs58'
import { accountKeysOf, type Block } from '../block.ts'
import type { OwnedTokenAccount, SimulatedChain } from '../chain.ts'
import type { ChainShape } from '../chain-shape.ts'
import { keysOf } from '../grpc/updates.ts'
import { keyId } from '../market/key.ts'
import type { RecordedOptions } from '../options.ts'
import {
  createEntries,
  madeUpHash,
  positionOf,
  type RecordedContent,
  type RecordedEntry,
  SLOT_SECONDS,
} from './entries.ts'
import type { RecordedBlock } from './load.ts'

/** A chain of recorded blocks; empty blocks follow the last one without end. */
export interface RecordedChain extends SimulatedChain {
  /** The slot before the first one that is played. */
  readonly before: number
}

/**
 * Creates the chain. Slots keep their recorded numbers, so that the numbers between two blocks are
 * skipped. With `split`, each block is cut into that many slots, which follow each other from the
 * first block's number on. The shape says which of the numbers are skipped or dead.
 */
export function createRecordedChain(
  blocks: readonly RecordedBlock[],
  options: RecordedOptions,
  shape: ChainShape,
): RecordedChain {
  const entries = createEntries(blocks, options, shape)
  const produced = entries.filter((entry) => entry.kind === 'produced')
  const places = placesOf(produced)
  const numbers = createSlotNumbers(entries, produced, shape)
  const contentOf = createContents(entries)
  const first = produced[0]!.slot
  const blockhash = (slot: number) => (slot < first ? madeUpHash(slot) : contentOf(slot).blockhash)
  return {
    ...numbers,
    before: entries[0]!.slot - 1,
    firstSlot: entries[0]!.slot,
    block(slot): Block {
      const parent = numbers.parent(slot)
      return {
        slot,
        parent,
        blockhash: numbers.kind(slot) === 'dead' ? madeUpHash(-slot) : contentOf(slot).blockhash,
        parentBlockhash: blockhash(parent),
        time: contentOf(slot).time,
        height: slot - Math.floor(first / 10),
        transactions: contentOf(slot).transactions,
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

/** Places of transactions by signature. */
function placesOf(produced: readonly RecordedEntry[]) {
  return new Map(
    produced.flatMap(({ slot, content }) =>
      content!.transactions.map((info, index) => [keyId(info.signature), { slot, index }] as const),
    ),
  )
}

/** The part of the chain that is about slot numbers. After the last entry, the shape decides. */
function createSlotNumbers(
  entries: readonly RecordedEntry[],
  produced: readonly RecordedEntry[],
  shape: ChainShape,
): Pick<SimulatedChain, 'kind' | 'parent' | 'step' | 'nextProduced'> {
  const bySlot = new Map(entries.map((entry) => [entry.slot, entry]))
  const start = entries[0]!
  const first = produced[0]!
  const last = entries.at(-1)!.slot
  // The recorded parent of the first block, unless a dead slot has taken its number.
  const firstParent = start === first ? (first.content!.parent ?? first.slot - 1) : start.slot - 1
  return {
    kind: (slot) => (slot > last ? shape.kind(slot) : (bySlot.get(slot)?.kind ?? 'skipped')),
    parent(slot) {
      if (slot <= first.slot) return Math.min(firstParent, slot - 1)
      if (slot > last) return Math.max(shape.parent(slot), last)
      return produced.findLast((entry) => entry.slot < slot)!.slot
    },
    step(slot, steps) {
      const at = slot > last ? entries.length - 1 + (slot - last) : positionOf(entries, slot)
      const to = at + steps
      if (to < 0) return start.slot + to
      return to < entries.length ? entries[to]!.slot : last + (to - entries.length + 1)
    },
    nextProduced(slot, limit) {
      const entry = produced.find((found) => found.slot >= slot)
      const found = entry?.slot ?? shape.atOrAfter(Math.max(slot, last + 1))
      return found <= limit ? found : null
    },
  }
}

/** Returns the content of a slot; an empty one for a slot without. */
function createContents(entries: readonly RecordedEntry[]): (slot: number) => RecordedContent {
  const contents = new Map(entries.map(({ slot, content }) => [slot, content]))
  const last = entries.at(-1)!
  return (slot) =>
    contents.get(slot) ?? {
      transactions: [],
      time: last.content!.time + Math.floor((slot - last.slot) * SLOT_SECONDS),
      blockhash: madeUpHash(slot),
      parent: null,
    }
}

/** Token accounts of an owner as a successful transaction left them. */
function accountsAfter(info: SubscribeUpdateTransactionInfo, owner: string): OwnedTokenAccount[] {
  const { meta } = info
  if (meta === undefined || meta.err !== undefined) return []
  const keys = accountKeysOf(info)
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
