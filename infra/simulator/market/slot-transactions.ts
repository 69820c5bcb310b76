import type { SubscribeUpdateTransactionInfo } from '@triton-one/yellowstone-grpc'
import type { Desk, Scale } from './episode.ts'
import type { Episodes } from './episodes.ts'
import type { Key } from './key.ts'
import type { MarketAction } from './scene.ts'
import type { Signatures } from './signature.ts'
import type { MakerCode, SlotOrder } from './slot-order.ts'
import type { Draft, DraftBalance } from './transaction-builder.ts'
import { transactionInfo } from './transaction-info.ts'
import { usdcAccountOf } from './universe.ts'

/**
 * Balances of tracked wallets, updated transaction by transaction within a slot: lamports by a
 * wallet's key id, raw USDC by its account's key id.
 */
export type Balances = Map<string, bigint>

/** A transaction at its index in a slot. */
export interface PlacedAction {
  /** The desk that makes it; undefined for a stranger. */
  readonly desk: Desk | undefined
  /** Creates the action. That of a stranger is made only on demand: most callers skip it. */
  action(): MarketAction
}

/** A slot's transactions, and the balances before the first of them. */
export interface PlacedSlot {
  readonly actions: readonly PlacedAction[]
  /** Balances of the desks that have a transaction in the slot. */
  readonly balances: Balances
}

/** The transactions of each slot. */
export interface SlotTransactions {
  place(slot: number): PlacedSlot
  /** The transaction of a draft at an index. `balances` are those before it. */
  encode(
    slot: number,
    index: number,
    draft: Draft,
    balances: Balances,
  ): SubscribeUpdateTransactionInfo
  /** One transaction of a slot; undefined past the last. */
  at(slot: number, index: number): SubscribeUpdateTransactionInfo | undefined
}

/** Creates the look-up. `strangerOf(slot, n)` is the n-th stranger's action in a slot. */
export function createSlotTransactions(market: {
  readonly scales: readonly Scale[]
  readonly episodes: Episodes
  readonly order: SlotOrder
  readonly signatures: Signatures
  strangerOf(slot: number, n: number): MarketAction
  blockhashOf(slot: number): Buffer
}): SlotTransactions {
  const { scales, episodes, order, signatures, strangerOf, blockhashOf } = market

  const addBalances = (desk: Desk, slot: number, balances: Balances): Balances => {
    for (const { key, baseLamports, baseUsdc } of desk.wallets) {
      const usdc = usdcAccountOf(key).id
      balances.set(key.id, baseLamports + episodes.changeBefore(desk, key.id, slot))
      balances.set(usdc, baseUsdc + episodes.changeBefore(desk, usdc, slot))
    }
    return balances
  }

  const place = (slot: number): PlacedSlot => {
    const balances: Balances = new Map()
    const seen = new Set<Desk>()
    const nextAction = createActionCursor(order, slot)
    const actions = Array.from(order.of(slot), (code): PlacedAction => {
      const desk = order.deskOf(code)
      if (desk === undefined) return { desk, action: () => strangerOf(slot, -1 - code) }
      if (!seen.has(desk)) addBalances(desk, slot, balances)
      seen.add(desk)
      const action = nextAction(code)
      return { desk, action: () => action }
    })
    return { actions, balances }
  }

  const encode: SlotTransactions['encode'] = (slot, index, draft, balances) => {
    const tokenBefore = tokenAmounts(draft, draft.preTokens)
    const first = signatures.of(slot, index)
    return transactionInfo(draft, {
      index,
      signatures: Array.from({ length: draft.signerCount }, (_, position) =>
        position === 0 ? first : signatures.further(first, position),
      ),
      recentBlockhash: blockhashOf(slot - 12),
      base(key) {
        const now = balances.get(key.id)
        if (now === undefined || tokenBefore.has(key.id)) return 0n
        return now - draft.pre[draft.keys.indexOf(key)]!
      },
      tokenBase(key) {
        const now = balances.get(key.id)
        return now === undefined ? 0n : now - (tokenBefore.get(key.id) ?? 0n)
      },
    })
  }

  return {
    place,
    encode,
    at(slot, index) {
      const code = order.of(slot)[index]
      if (code === undefined) return undefined
      const desk = order.deskOf(code)
      if (desk === undefined) {
        return encode(slot, index, strangerOf(slot, -1 - code).draft, new Map())
      }
      // Only transactions of the same desk change its balances.
      const codes = scales.map((scale) => order.codeOf(desk, scale))
      const nextAction = createActionCursor(order, slot)
      const balances = addBalances(desk, slot, new Map())
      for (const [at, maker] of order.of(slot).entries()) {
        if (!codes.includes(maker)) continue
        const { draft } = nextAction(maker)
        if (at === index) return encode(slot, index, draft, balances)
        applyDraft(balances, draft)
      }
      return undefined
    },
  }
}

/** Adds what a transaction changed to the balances of the wallets in them. */
export function applyDraft(balances: Balances, draft: Draft): void {
  const tokenBefore = tokenAmounts(draft, draft.preTokens)
  const tokenAfter = tokenAmounts(draft, draft.postTokens)
  draft.keys.forEach((key: Key, account) => {
    const now = balances.get(key.id)
    if (now === undefined) return
    const token = tokenBefore.get(key.id)
    const change =
      token === undefined
        ? draft.post[account]! - draft.pre[account]!
        : (tokenAfter.get(key.id) ?? 0n) - token
    balances.set(key.id, now + change)
  })
}

/** Token amounts of a draft's balances, in raw units by key id. */
export function tokenAmounts(draft: Draft, balances: readonly DraftBalance[]): Map<string, bigint> {
  return new Map(balances.map(({ account, token }) => [draft.keys[account]!.id, token.amount]))
}

/** Returns a maker's next action in a slot each time that it is called. */
function createActionCursor(order: SlotOrder, slot: number): (code: MakerCode) => MarketAction {
  const next = new Map<MakerCode, number>()
  return (code) => {
    const position = next.get(code) ?? 0
    next.set(code, position + 1)
    return order.actionsOf(code, slot)[position]!
  }
}
