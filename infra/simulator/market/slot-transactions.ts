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
  /** The desk that makes the transaction; undefined for an untracked wallet. */
  readonly desk: Desk | undefined
  /**
   * Creates the action. That of an untracked wallet is made only on demand: most callers skip it.
   */
  action(): MarketAction
}

/** A slot's transactions, and the balances before the first of them. */
export interface PlacedSlot {
  readonly actions: readonly PlacedAction[]
  /** Balances of the desks that have a transaction in the slot. */
  readonly balances: Balances
}

/** Parts from which the transactions of a market are created. */
interface Sources {
  readonly scales: readonly Scale[]
  readonly episodes: Episodes
  readonly order: SlotOrder
  readonly signatures: Signatures
  /** The action of the n-th untracked wallet in a slot. */
  untrackedActionOf(slot: number, n: number): MarketAction
  blockhashOf(slot: number): Buffer
}

/** The transactions of each slot of a market. */
export class SlotTransactions {
  readonly #sources: Sources

  constructor(sources: Sources) {
    this.#sources = sources
  }

  place(slot: number): PlacedSlot {
    const { order, untrackedActionOf } = this.#sources
    const balances: Balances = new Map()
    const seen = new Set<Desk>()
    const nextAction = createActionCursor(order, slot)
    const actions = Array.from(order.of(slot), (code): PlacedAction => {
      const desk = order.deskOf(code)
      if (desk === undefined) return { desk, action: () => untrackedActionOf(slot, -1 - code) }
      if (!seen.has(desk)) this.#addBalances(desk, slot, balances)
      seen.add(desk)
      const action = nextAction(code)
      return { desk, action: () => action }
    })
    return { actions, balances }
  }

  /** The transaction of a draft at an index. `balances` are those before it. */
  encode(
    slot: number,
    index: number,
    draft: Draft,
    balances: Balances,
  ): SubscribeUpdateTransactionInfo {
    const { signatures, blockhashOf } = this.#sources
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

  /** One transaction of a slot; undefined past the last. */
  at(slot: number, index: number): SubscribeUpdateTransactionInfo | undefined {
    const { scales, order, untrackedActionOf } = this.#sources
    const code = order.of(slot)[index]
    if (code === undefined) return undefined
    const desk = order.deskOf(code)
    if (desk === undefined)
      return this.encode(slot, index, untrackedActionOf(slot, -1 - code).draft, new Map())
    // Only transactions of the same desk change its balances.
    const codes = scales.map((scale) => order.codeOf(desk, scale))
    const nextAction = createActionCursor(order, slot)
    const balances = this.#addBalances(desk, slot, new Map())
    for (const [at, maker] of order.of(slot).entries()) {
      if (!codes.includes(maker)) continue
      const { draft } = nextAction(maker)
      if (at === index) return this.encode(slot, index, draft, balances)
      applyDraft(balances, draft)
    }
    return undefined
  }

  #addBalances(desk: Desk, slot: number, balances: Balances): Balances {
    const { episodes } = this.#sources
    for (const { key, baseLamports, baseUsdc } of desk.wallets) {
      const usdc = usdcAccountOf(key).id
      balances.set(key.id, baseLamports + episodes.changeBefore(desk, key.id, slot))
      balances.set(usdc, baseUsdc + episodes.changeBefore(desk, usdc, slot))
    }
    return balances
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
