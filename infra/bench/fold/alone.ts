import { toFoldEvent } from '../../../pipeline/fold/fold-event.ts'
import { foldEvent } from '../../../pipeline/fold/fold-wallet.ts'
import {
  createWalletState,
  takeChanges,
  type WalletState,
} from '../../../pipeline/fold/wallet-state.ts'
import { createWorkload } from './workload.ts'

const EVENTS = 500_000
const WARM_UP = 200_000
const AT_ONCE = 5000

/**
 * Events a second that the pure fold processes on one core: from the log's record to the changes to
 * store.
 */
export function foldAlone(wallets: number): number {
  const workload = createWorkload({ wallets, tokensPerWallet: 50 })
  const states = new Map<number, WalletState>()
  let seconds = 0
  // The first round warms the compiler, and opens the positions.
  for (let done = -WARM_UP; done < EVENTS; done += AT_ONCE) {
    const events = Array.from({ length: AT_ONCE }, (_, at) => workload.event(done + WARM_UP, at))
    const startedAt = process.cpuUsage().user
    const touched = new Set<WalletState>()
    for (const event of events) {
      let state = states.get(event.wallet)
      if (state === undefined) {
        state = createWalletState(event.wallet)
        states.set(event.wallet, state)
      }
      foldEvent(state, toFoldEvent(event))
      touched.add(state)
    }
    for (const state of touched) takeChanges(state)
    if (done >= 0) seconds += (process.cpuUsage().user - startedAt) / 1e6
  }
  return EVENTS / seconds
}
