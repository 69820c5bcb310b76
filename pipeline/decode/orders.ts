import type { NamedWallets } from './named-wallets.ts'
import type { OrderStep, Program } from './program.ts'

/** What order programs did in a transaction (rule B2a). */
export interface OrderBook {
  /** Owner of each escrow token account: it counts as his own. */
  readonly escrows: ReadonlyMap<number, number>
  readonly fills: readonly Fill[]
}

/** A stretch of top-level instructions that is one swap instruction of the order's owner. */
export interface Fill {
  readonly owner: number
  readonly program: Program
  /** First and last top-level instruction, as places. */
  readonly first: number
  readonly last: number
}

/** A step of an order program, with the top-level instruction in which it is. */
export interface PlacedStep {
  readonly top: number
  readonly program: Program
  readonly step: OrderStep
}

export const NO_ORDERS: OrderBook = { escrows: new Map(), fills: [] }

/** Joins the steps of each order: a fill, or a flash fill from the step that takes to the step that settles. */
export function readOrders(steps: readonly PlacedStep[], named: NamedWallets): OrderBook {
  const owners = new Map<number, number>()
  for (const { step } of steps) {
    if (step.owner === null) continue
    const wallet = named.atKey[step.owner]!
    if (wallet !== 0) owners.set(step.order, wallet)
  }
  const escrows = new Map<number, number>()
  const taken = new Map<number, number>()
  const fills: Fill[] = []
  for (const { top, program, step } of steps) {
    const owner = owners.get(step.order)
    if (owner === undefined) continue
    for (const escrow of step.escrows) escrows.set(escrow, owner)
    if (step.kind === 'take') taken.set(step.order, top)
    if (step.kind === 'fill') fills.push({ owner, program, first: top, last: top })
    if (step.kind === 'settle') {
      fills.push({ owner, program, first: taken.get(step.order) ?? top, last: top })
      taken.delete(step.order)
    }
  }
  return { escrows, fills: fills.sort((a, b) => a.first - b.first) }
}
