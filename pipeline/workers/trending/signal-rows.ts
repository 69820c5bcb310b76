import { fractionText, nearestTo } from '../../domain/fraction.ts'
import type { Row } from '../../store/store.ts'
import type { Signal } from '../../trending/strategy-signal.ts'

/** Row of table `signals`. */
export function signalRow(signal: Signal): Row {
  const { triggerMcap } = signal
  return {
    fired_at: signal.firedAt,
    strategy: signal.strategy,
    mint: signal.mint,
    entry: signal.entry,
    id: signal.id,
    symbol: signal.symbol,
    name: signal.name,
    conviction: signal.conviction,
    wallets_holding: signal.walletsHolding,
    wallets: signal.wallets,
    trigger_mcap: nearestTo(triggerMcap),
    exact_trigger_mcap: triggerMcap === null ? '' : fractionText(triggerMcap),
    held_lamports: signal.heldLamports,
    buy_lamports: signal.buyLamports,
    sell_lamports: signal.sellLamports,
    reasons: signal.reasons.map(({ field, op, threshold, value }) => ({
      field,
      op,
      threshold: JSON.stringify(threshold),
      value: JSON.stringify(value),
    })),
  }
}
