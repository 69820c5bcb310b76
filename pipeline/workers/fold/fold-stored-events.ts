import type { Perturb } from '../../domain/perturbation.ts'
import { foldBalance, foldEvent } from '../../fold/fold-wallet.ts'
import type { WalletState } from '../../fold/wallet-state.ts'
import { EventLoopYield } from '../../runtime/event-loop-yield.ts'
import type { Store } from '../../store/store.ts'
import { readBalances, readShortEvents } from '../../store/tables/wallet-events.ts'

/**
 * Folds into each state the stored events beyond it. Returns the wallets that have more than one
 * page of such events; their states are not advanced.
 */
export async function foldEventsBeyond(
  store: Store,
  states: ReadonlyMap<number, WalletState>,
  perturb: Perturb | null,
): Promise<number[]> {
  const tooLong: number[] = []
  const loopYield = new EventLoopYield()
  for await (const page of readShortEvents(store, states)) {
    if (loopYield.isDue) await loopYield.wait()
    const state = states.get(page.wallet)
    if (state === undefined) continue
    if (!page.isLast) tooLong.push(page.wallet)
    else for (const event of page.events()) foldEvent(state, event, perturb)
  }
  return tooLong
}

/** Folds into each state the newest stored balance record beyond it, and counts those before it. */
export async function foldBalancesBeyond(
  store: Store,
  states: ReadonlyMap<number, WalletState>,
): Promise<void> {
  const places = new Map(
    [...states].map(([wallet, state]) => [
      wallet,
      { slot: state.balanceSlot, txIndex: state.balanceTxIndex },
    ]),
  )
  for (const { wallet, records, ...newest } of await readBalances(store, places)) {
    const state = states.get(wallet)
    if (state === undefined || !foldBalance(state, newest)) continue
    state.balances += records - 1
  }
}
