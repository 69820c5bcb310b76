import { type Perturbation, perturbAmount } from '../domain/perturbation.ts'
import type { FoldEvent } from './fold-event.ts'

/** What is published of a position when trades are served perturbed: sums and times of the swaps as they are served (decisions I2, C14). */
export interface Served {
  bought: bigint
  sold: bigint
  boughtLamports: bigint
  soldLamports: bigint
  /** Null before there is one; first and last by event key. */
  firstBuyTime: number | null
  firstTradeTime: number | null
  lastTradeTime: number | null
}

export function createServed(): Served {
  return {
    bought: 0n,
    sold: 0n,
    boughtLamports: 0n,
    soldLamports: 0n,
    firstBuyTime: null,
    firstTradeTime: null,
    lastTradeTime: null,
  }
}

/** Books a swap as it is served, in place. */
export function foldServed(served: Served, event: FoldEvent, perturbation: Perturbation): void {
  const time = event.blockTime - perturbation.earlierSeconds
  const amount = perturbAmount(event.amount, perturbation)
  const value = perturbAmount(event.value ?? 0n, perturbation)
  served.firstTradeTime ??= time
  served.lastTradeTime = time
  if (event.kind === 'buy') {
    served.firstBuyTime ??= time
    served.bought += amount
    served.boughtLamports += value
  } else {
    served.sold += amount
    served.soldLamports += value
  }
}
