import type { Perturb } from '../../domain/perturbation.ts'
import { foldBalance, foldEvent } from '../../fold/fold-wallet.ts'
import type { WalletState } from '../../fold/wallet-state.ts'
import { EventLoopYield } from '../../runtime/event-loop-yield.ts'
import type { Store } from '../../store/store.ts'
import { readBalances, readEvents, START_PLACE } from '../../store/tables/wallet-events.ts'
import type { BookWriter } from './book-writer.ts'

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
  for await (const page of readEvents(store, states, { onlyShort: true })) {
    if (loopYield.isDue) await loopYield.wait()
    const state = states.get(page.wallet)
    if (state === undefined) continue
    if (!page.isLast) tooLong.push(page.wallet)
    else for (const event of page.events) foldEvent(state, event, perturb)
  }
  return tooLong
}

/**
 * Folds every stored event into new states, page by page. Passes detail rows to `writer` meanwhile.
 */
export async function foldAllEvents(
  store: Store,
  states: ReadonlyMap<number, WalletState>,
  perturb: Perturb | null,
  writer: BookWriter,
): Promise<void> {
  const starts = new Map([...states.keys()].map((wallet) => [wallet, START_PLACE]))
  for await (const { wallet, events } of readEvents(store, starts)) {
    const state = states.get(wallet)
    if (state === undefined) continue
    for (const event of events) foldEvent(state, event, perturb)
    await writer.addPartial(state)
  }
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
