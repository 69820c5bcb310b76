import { z } from 'zod'
import { LAMPORTS_PER_SOL, nearestNumber } from '../../pipeline/domain/amount.ts'
import { coarsen } from '../../pipeline/domain/coarsen.ts'
import { count, sol, time } from './fields.ts'

/** Profit of a wallet at a time (rule L8). */
export const ProfitPointItem = z
  .strictObject({
    time: time.describe('Unix seconds; what happened until then counts'),
    realized_sol: sol.describe('Profit of all sells so far'),
    unrealized_sol: sol.describe(
      'Value of the open positions less their cost, where a price is known',
    ),
    total_sol: sol.describe('`realized_sol` + `unrealized_sol`'),
    open_cost_sol: sol.min(0).describe('Cost of all open positions'),
    volume_sol: sol.min(0).describe('Value of the swaps in the interval that ends with `time`'),
    unpriced: count.describe('Open positions without a price, which `unrealized_sol` leaves out'),
  })
  .meta({ id: 'ProfitPoint', description: 'Profit of a tracked wallet at a time.' })
export type ProfitPointItem = z.infer<typeof ProfitPointItem>

/** Profit of a wallet at a time, in lamports. */
export interface ProfitPoint {
  readonly time: number
  readonly realized: bigint
  readonly openCost: bigint
  readonly volume: bigint
  /** Value and cost of the open positions that have a price. */
  readonly value: bigint
  readonly pricedCost: bigint
  readonly unpriced: number
}

/** Renders a point; with a salt coarsened (rule L13). */
export function profitPointItem(point: ProfitPoint, isSalted: boolean): ProfitPointItem {
  const sum = (lamports: bigint) => (isSalted ? coarsen(lamports) : lamports)
  const inSol = (lamports: bigint) => nearestNumber(lamports, LAMPORTS_PER_SOL)
  const realized = sum(point.realized)
  const unrealized = sum(sum(point.value) - sum(point.pricedCost))
  return {
    time: point.time,
    realized_sol: inSol(realized),
    unrealized_sol: inSol(unrealized),
    total_sol: inSol(sum(realized + unrealized)),
    open_cost_sol: inSol(sum(point.openCost)),
    volume_sol: inSol(sum(point.volume)),
    unpriced: point.unpriced,
  }
}
