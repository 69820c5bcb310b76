import type { HeldPositionRow } from '../items/holding.ts'

/**
 * What a wallet holds now, in order. When something changes there is another one, with other
 * `serials`, and this one's rows are not to be asked for any more.
 */
export interface HeldRows {
  /** Of each row a number that no other row ever has; this list never changes. */
  readonly serials: readonly number[]
  row(index: number): HeldPositionRow
  firstTradeTime(index: number): number
}
