import { coarsen, coarsenNumber } from '../domain/coarsen.ts'
import { type Score, scoreWallet } from './score.ts'
import type { WalletState } from './wallet-state.ts'

/** One of a wallet's busiest hours. */
export interface ActiveHour {
  readonly hourUtc: number
  readonly txCount: number
}

/** Sums of a wallet as they are served. Lamports, seconds. */
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
 * The sums of a wallet as they are served: exact, or, with `PRIVACY_SALT`, coarsened to two digits
 * (rule I2a). Counts are exact either way, because a customer can count the trades themselves.
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

/**
 * Status and score of the wallet as it stands, computed from the sums that are served (section 3 of
 * the contract).
 */
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

/** The three UTC hours with most distinct transactions, most first, ties to the earlier; fewer when fewer are used (rule C11). */
export function activeHours(hours: readonly number[]): ActiveHour[] {
  return hours
    .map((txCount, hourUtc) => ({ hourUtc, txCount }))
    .filter((hour) => hour.txCount > 0)
    .sort((a, b) => b.txCount - a.txCount || a.hourUtc - b.hourUtc)
    .slice(0, 3)
}

/**
 * Orders the pictures of a wallet's rows: the one of a later refold, then the one with more records folded, is the newer. Two pictures with the
 * same version are equal, whoever made them, because records of one wallet are folded in one order.
 */
export function stateVersion(state: WalletState): number {
  return state.revision * 2 ** 32 + state.events + state.balances
}
