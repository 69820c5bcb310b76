import type { HeldPositionRow } from '../../pipeline/store/tables/positions.ts'

/**
 * Open positions of a wallet, in order. A change creates another list with other `serials`; rows of
 * the previous list must not be read any more.
 */
export interface HeldRows {
  /** A number for each row that no other row ever gets. The array never changes. */
  readonly serials: readonly number[]
  row(index: number): HeldPositionRow
  firstTradeTime(index: number): number
}
