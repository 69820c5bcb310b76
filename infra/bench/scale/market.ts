import { monitorEventLoopDelay } from 'node:perf_hooks'
import { startSimulator } from '../../simulator/simulator.ts'
import { marketOptions } from './market-options.ts'
import type { FromMarket, ToMarket } from './protocol.ts'

/**
 * The simulator as a process of the bench, with `WALLETS` tracked wallets and `RATE` swaps a
 * second, in a burst `BURST`.
 */
const { WALLETS, RATE, BURST } = process.env
/** A burst begins so many slots ahead: no stream has asked for them yet. */
const AHEAD_SLOTS = 5

let burst = { from: Number.POSITIVE_INFINITY, to: Number.POSITIVE_INFINITY }
const size = { wallets: Number(WALLETS), rate: Number(RATE), burst: Number(BURST) }
const simulator = await startSimulator(
  marketOptions(size, (slot) => slot >= burst.from && slot < burst.to),
)
const delay = monitorEventLoopDelay()
delay.enable()
process.once('disconnect', () => process.exit(0))
process.on('message', (message: ToMarket) => {
  if (message.kind === 'slot') return tell({ kind: 'slot', confirmed: simulator.confirmedSlot })
  if (message.kind === 'stalls') {
    tell({ kind: 'stalls', p99: delay.percentile(99) / 1e6, max: delay.max / 1e6 })
    return delay.reset()
  }
  const from = simulator.slot + AHEAD_SLOTS
  burst = { from, to: from + message.slots }
  tell({ kind: 'burst', ...burst })
})
const { endpoint, rpcUrl, solPricePool } = simulator
tell({ kind: 'ready', endpoint, rpcUrl, solPricePool })

function tell(message: FromMarket): void {
  process.send?.(message)
}
