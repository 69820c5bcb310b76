import { coarsen, coarsenNumber } from '../domain/coarsen.ts'
import { type Score, scoreWallet } from './score.ts'
import type { WalletState } from './wallet-state.ts'

/** One of the busiest hours of a wallet. */
export interface ActiveHour {
  readonly hourUtc: number
  readonly txCount: number
}

/** Sums of a wallet in their served form. Lamports, seconds. */
export type ServedSums = Pick<
  WalletState,
  | 'balance'
  | 'pnl'
  | 'boughtLamports'
  | 'soldLamports'
  | 'investedOpen'
  | 'receivedLamports'
  | 'sentLamports'
  | 'holdingSecondsSum'
  | 'exitSecondsSum'
>

/**
 * Returns the sums of a wallet as they are served: exact or, with `PRIVACY_SALT`, coarsened to two
 * digits (rule I2a). Counts are always exact, because customers can count the trades themselves.
 */
export function servedSums(state: WalletState, isSalted: boolean): ServedSums {
  if (!isSalted) return state
  return {
    balance: state.balance === null ? null : coarsen(state.balance),
    pnl: coarsen(state.pnl),
    boughtLamports: coarsen(state.boughtLamports),
    soldLamports: coarsen(state.soldLamports),
    investedOpen: coarsen(state.investedOpen),
    receivedLamports: coarsen(state.receivedLamports),
    sentLamports: coarsen(state.sentLamports),
    holdingSecondsSum: coarsenNumber(state.holdingSecondsSum),
    exitSecondsSum: coarsenNumber(state.exitSecondsSum),
  }
}

/** Returns status and score of a wallet, computed from its served sums (contract 3). */
export function walletScore(state: WalletState, served: ServedSums): Score {
  return scoreWallet({
    balance: served.balance,
    pnl: served.pnl,
    bought: served.boughtLamports,
    buys: state.buys,
    sells: state.sells,
    tokensWon: state.tokensWon,
    tokensSoldValued: state.tokensSoldValued,
    holdingSecondsSum: served.holdingSecondsSum,
    holdingMatches: state.holdingMatches,
  })
}

/**
 * Returns the three UTC hours with most distinct transactions, most first, ties to the earlier
 * hour; fewer if fewer are used (rule C11).
 */
export function activeHours(hours: readonly number[]): ActiveHour[] {
  return hours
    .map((txCount, hourUtc) => ({ hourUtc, txCount }))
    .filter((hour) => hour.txCount > 0)
    .sort((a, b) => b.txCount - a.txCount || a.hourUtc - b.hourUtc)
    .slice(0, 3)
}

/**
 * Returns a version that orders the rows of a wallet: those of a later owner are newer (`fence`,
 * rule K15), then those of a later refold, then those of a state with more folded records. Records
 * of a wallet are folded in one order, so two states of the same version are equal.
 */
export function stateVersion(state: WalletState, fence: number): bigint {
  return refoldVersion(state.revision, fence) + BigInt(state.events + state.balances)
}

/** Returns a version below those of all rows that a refold makes, and above all earlier ones. */
export function refoldVersion(revision: number, fence: number): bigint {
  return (BigInt(fence) * REVISIONS_PER_FENCE + BigInt(revision)) << 32n
}

/** Returns the part of a version that every refold changes, and no other event. */
export function refoldOf(version: bigint): bigint {
  return version >> 32n
}

/**
 * An owner that was evicted may have refolded a wallet fewer times than this without its successor
 * knowing. It stops before its next statement, so more than one is hardly possible. Tokens up to
 * four million fit into a version of 64 bits.
 */
const REVISIONS_PER_FENCE = 1024n
