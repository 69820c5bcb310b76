import { createHash } from 'node:crypto'
import type { SubscribeUpdateTransactionInfo } from '@triton-one/yellowstone-grpc'
import { LRUCache } from 'lru-cache'
import { encodeBase58 } from '../../../pipeline/domain/base58.ts'
import type { Block } from '../block.ts'
import type { AccountState, OwnedTokenAccount, TransactionMention } from '../chain.ts'
import type { ChainShape } from '../chain-shape.ts'
import { createAccounts } from './accounts.ts'
import { createDeskMentions } from './desk-mentions.ts'
import { createDeskIndex, createDesks, createScales } from './desks.ts'
import { createEpisodes } from './episodes.ts'
import type { Key } from './key.ts'
import type { MarketOptions } from './market-options.ts'
import { createPoolUpdates } from './pool-accounts.ts'
import { createSignatures, type Signatures } from './signature.ts'
import { createSlotOrder } from './slot-order.ts'
import { blockTimeOf } from './slot-time.ts'
import { applyDraft, SlotTransactions } from './slot-transactions.ts'
import { type SlotTruth, truthOf } from './slot-truth.ts'
import { lifeOfTemperament } from './temperament.ts'
import { createUniverse, type Universe } from './universe.ts'
import { untrackedAction } from './untracked-action.ts'
import type { PoolBalances } from './venues/pool.ts'
import { VENUES } from './venues/registry.ts'
import { createWalletAccounts } from './wallet-accounts.ts'
import { priceAccountUpdate } from './whirlpool-account.ts'

/** The market: what each slot holds is a function of the options and the slot alone. */
export interface Market {
  readonly universe: Universe
  readonly signatures: Signatures
  /** The block of a slot that has one. */
  block(slot: number): Block
  /** The records that a decoder must find in a slot. */
  truth(slot: number): SlotTruth
  /**
   * Transactions that name a key, in slots `from` down to `last`, newest first; includes slots
   * without a block. Yields null occasionally, so that the caller can give way to other work. Fast
   * for tracked wallets and their token accounts.
   */
  mentionsDown(keyId: string, from: number, last: number): Generator<TransactionMention | null>
  /** Number of transactions of a slot. */
  count(slot: number): number
  /** One transaction, equal to that in `block`; undefined after the last index. */
  transaction(slot: number, index: number): SubscribeUpdateTransactionInfo | undefined
  /**
   * Mints, their metadata, pools with their vaults, and tracked wallets; null for other addresses.
   */
  account(address: string, slot: number): AccountState | null
  /** Token accounts of a tracked wallet after a slot. */
  tokenAccounts(owner: string, slot: number): readonly OwnedTokenAccount[]
  /** Unix seconds of a slot's block. */
  timeOf(slot: number): number
  blockhash(slot: number): string
}

const CACHED_BLOCKHASHES = 4_096

/** Opens the market on a chain of the given shape. */
export function createMarket(options: MarketOptions, shape: ChainShape): Market {
  const { compressed } = options
  const parts = createParts(options, shape)
  const { universe, signatures, order, deskIndex, mentions, wallets, transactions } = parts
  const blockhash = (slot: number) => encodeBase58(parts.blockhashOf(slot))
  const built = cacheLast((slot) => buildSlot(transactions, slot))
  const truth = cacheLast((slot) => truthOf(universe, signatures, slot, transactions.place(slot)))
  /** The previous slot; within a compressed history, the previous slot that has a block. */
  const previous = (slot: number) =>
    slot > (compressed?.before ?? 0) ? slot - 1 : shape.parent(slot)
  const accounts = createAccounts(universe)
  const poolUpdates = createPoolUpdates(universe)
  return {
    universe,
    signatures,
    timeOf: blockTimeOf,
    *mentionsDown(id, from, last) {
      const desk = deskIndex.find(id)
      if (desk !== null) yield* mentions.find(desk, id, from, last)
      else
        for (let slot = from; slot >= last; slot = previous(slot)) {
          yield null
          yield* mentionsIn(transactions, slot, id)
        }
    },
    count: (slot) => order.of(slot).length,
    transaction: (slot, index) => transactions.at(slot, index),
    account: (address, slot) => accounts.get(address)?.(slot) ?? wallets.account(address, slot),
    tokenAccounts: wallets.tokenAccounts,
    blockhash,
    block(slot) {
      const parent = shape.parent(slot)
      const time = blockTimeOf(slot)
      return {
        slot,
        parent,
        time,
        height: shape.height(slot),
        // Computed on demand: most callers that ask for an old block want its time alone.
        get blockhash() {
          return blockhash(slot)
        },
        get parentBlockhash() {
          return blockhash(parent)
        },
        get transactions() {
          return built(slot).transactions
        },
        get accounts() {
          return [
            priceAccountUpdate(universe.pricePool, slot, time),
            ...poolUpdates(built(slot).named, slot, time),
          ]
        },
      }
    },
    truth,
  }
}

function createParts(options: MarketOptions, shape: ChainShape) {
  const { seed, compressed, othersPerSlot } = options
  const isCalm = compressed !== undefined
  const universe = createUniverse(seed, options.wallets, options.coins, (index) =>
    isCalm ? lifeOfTemperament(seed, index) : null,
  )
  const desks = createDesks(universe, isCalm)
  const scales = createScales(options, desks.length, isCalm)
  const pools = poolAccountsOf(universe)
  const signatures = createSignatures(seed)
  const blockhashes = new LRUCache<number, Buffer>({
    max: CACHED_BLOCKHASHES,
    memoMethod: (slot) => createHash('sha256').update(`${seed}/block/${slot}`).digest(),
  })
  const blockhashOf = (slot: number) => blockhashes.memo(slot)
  const episodes = createEpisodes({ universe, pools, desks, scales, shape, compressed })
  const order = createSlotOrder({ seed, desks, scales, othersPerSlot, episodes })
  const deskIndex = createDeskIndex(desks)
  const untrackedActionOf = (slot: number, n: number) => untrackedAction(universe, pools, slot, n)
  return {
    universe,
    signatures,
    blockhashOf,
    order,
    deskIndex,
    mentions: createDeskMentions({ scales, episodes, order, deskIndex }),
    wallets: createWalletAccounts({ universe, scales, episodes, deskIndex }),
    transactions: new SlotTransactions({
      scales,
      episodes,
      order,
      signatures,
      untrackedActionOf,
      blockhashOf,
    }),
  }
}

/** The accounts of all pools, by key id. */
function poolAccountsOf({ coins, pricePool }: Universe): Map<string, PoolBalances> {
  const accounts = [...coins, pricePool].flatMap((coin) => VENUES[coin.venue].accounts(coin))
  return new Map(accounts.map((account) => [account.key.id, account]))
}

/** A slot's transactions, and the keys that successful ones name. */
function buildSlot(slotTransactions: SlotTransactions, slot: number) {
  const { actions, balances } = slotTransactions.place(slot)
  const named = new Set<Key>()
  const transactions = actions.map((placed, index) => {
    const { draft } = placed.action()
    if (draft.failure === null) for (const key of draft.keys) named.add(key)
    const info = slotTransactions.encode(slot, index, draft, balances)
    applyDraft(balances, draft)
    return info
  })
  return { transactions, named }
}

/** The transactions of a slot that name a key, the last first. */
function* mentionsIn(
  transactions: SlotTransactions,
  slot: number,
  keyId: string,
): Generator<TransactionMention> {
  const { actions } = transactions.place(slot)
  for (let index = actions.length - 1; index >= 0; index -= 1) {
    const { draft } = actions[index]!.action()
    if (draft.keys.some((key) => key.id === keyId))
      yield { slot, index, failed: draft.failure !== null }
  }
}

/** Remembers the result of the last slot. */
function cacheLast<T>(make: (slot: number) => T): (slot: number) => T {
  let last: { readonly slot: number; readonly made: T } | null = null
  return (slot) => {
    if (last?.slot !== slot) last = { slot, made: make(slot) }
    return last.made
  }
}
