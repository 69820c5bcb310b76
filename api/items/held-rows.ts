import type { HeldPositionRow } from '../../pipeline/store/tables/positions.ts'

/**
 * Open positions of a wallet, in order. After a change there is a new list with other `serials`,
 * and rows of the previous list must not be read any more.
 */
export interface HeldRows {
  /** A number per row, unique for ever. The array never changes. */
  readonly serials: readonly number[]
  row(index: number): HeldPositionRow
  firstTradeTime(index: number): number
}
