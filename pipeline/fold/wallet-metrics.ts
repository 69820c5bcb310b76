import { type Score, scoreWallet } from './score.ts'
import type { WalletState } from './wallet-state.ts'

/** One of a wallet's busiest hours. */
export interface ActiveHour {
  readonly hourUtc: number
  readonly txCount: number
}

/** Status and score of the wallet as it stands (section 3 of the contract). */
export function walletScore(state: WalletState): Score {
  return scoreWallet({
    balance: state.balance,
    pnl: state.pnl,
    bought: state.boughtLamports,
    buys: state.buys,
    sells: state.sells,
    tokensWon: state.tokensWon,
    tokensSoldValued: state.tokensSoldValued,
    holdingSecondsSum: state.holdingSecondsSum,
    holdingMatches: state.holdingMatches,
  })
}

/** The three UTC hours with most distinct transactions, most first, ties to the earlier; fewer when fewer are used (decisions C11). */
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
