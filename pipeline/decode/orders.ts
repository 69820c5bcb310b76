import type { NamedWallets } from './named-wallets.ts'
import type { OrderAction, Program } from './program.ts'

/** Actions of order programs in a transaction (rule B2a). */
export interface OrderActivity {
  /**
   * Owner of each escrow token account, by account index. The escrow counts as the owner's account.
   */
  readonly escrows: ReadonlyMap<number, number>
  readonly fills: readonly OrderFill[]
}

/** A fill of an order: a range of top-level instructions that is one swap of the order's owner. */
export interface OrderFill {
  readonly owner: number
  readonly program: Program
  /** Indexes of the first and the last top-level instruction. */
  readonly first: number
  readonly last: number
}

/** An action of an order program, and the index of its top-level instruction. */
export interface PlacedOrderAction {
  readonly top: number
  readonly program: Program
  readonly action: OrderAction
}

/** The activity of a transaction that calls no order program. */
export const NO_ORDERS: OrderActivity = { escrows: new Map(), fills: [] }

/**
 * Groups the actions of each order into fills. A flash fill reaches from the action that takes to
 * the action that settles.
 */
export function readOrders(
  actions: readonly PlacedOrderAction[],
  named: NamedWallets,
): OrderActivity {
  const owners = new Map<number, number>()
  for (const { action } of actions) {
    if (action.owner === null) continue
    const wallet = named.atKey[action.owner]!
    if (wallet !== 0) owners.set(action.order, wallet)
  }
  const escrows = new Map<number, number>()
  const taken = new Map<number, number>()
  const fills: OrderFill[] = []
  for (const { top, program, action } of actions) {
    const owner = owners.get(action.order)
    if (owner === undefined) continue
    for (const escrow of action.escrows) escrows.set(escrow, owner)
    if (action.kind === 'take') taken.set(action.order, top)
    if (action.kind === 'fill') fills.push({ owner, program, first: top, last: top })
    if (action.kind === 'settle') {
      fills.push({ owner, program, first: taken.get(action.order) ?? top, last: top })
      taken.delete(action.order)
    }
  }
  return { escrows, fills: fills.sort((a, b) => a.first - b.first) }
}
