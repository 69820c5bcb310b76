import { LASTING_FIELDS } from '../../api/client/same-trade.ts'
import type { TradeItem } from '../../api/items/trade.ts'

/** Compares the trades of the feed with those of `GET /trades`, by the second of their block. */
export interface ProbeComparison {
  /** Notes a trade of the feed. */
  note(trade: TradeItem): void
  /** Forgets a trade that the feed has withdrawn. */
  retract(trade: TradeItem): void
  /**
   * Compares with the newest trades of REST, of the whole seconds after `from` up to `to` (unix
   * seconds). Returns how many of REST were compared, and the number of seconds that differ now and
   * differed at the last call too: one of both sides may be late once.
   */
  compare(
    rest: readonly TradeItem[],
    from: number,
    to: number,
  ): { readonly compared: number; readonly differing: number }
}

/** Trades of older seconds are forgotten; REST is never asked for so old ones. */
const KEPT_SECONDS = 900

/** A trade as text, without what may be filled in after the feed has sent it (rule L3). */
function textOf(trade: TradeItem): string {
  return JSON.stringify(trade, [...LASTING_FIELDS])
}

/** Makes a comparison. Equal trades of one second are told apart by their number alone. */
export function createProbeComparison(): ProbeComparison {
  /** Trades of the feed, as JSON, by the second of their block. */
  const bySecond = new Map<number, string[]>()
  let differed = new Set<number>()
  return {
    note(trade) {
      const trades = bySecond.get(trade.block_time) ?? []
      bySecond.set(trade.block_time, trades)
      trades.push(textOf(trade))
    },
    retract(trade) {
      const trades = bySecond.get(trade.block_time)
      const at = trades?.indexOf(textOf(trade)) ?? -1
      if (at >= 0) trades?.splice(at, 1)
    },
    compare(rest, from, to) {
      const expected = new Map<number, string[]>()
      for (const trade of rest) {
        const { block_time: second } = trade
        if (second <= from || second > to) continue
        expected.set(second, [...(expected.get(second) ?? []), textOf(trade)])
      }
      const differ = new Set<number>()
      for (let second = from + 1; second <= to; second++) {
        const [ours, theirs] = [bySecond.get(second) ?? [], expected.get(second) ?? []]
        if (ours.toSorted().join() !== theirs.toSorted().join()) differ.add(second)
      }
      const differing = [...differ].filter((second) => differed.has(second)).length
      differed = differ
      for (const second of bySecond.keys()) if (second < to - KEPT_SECONDS) bySecond.delete(second)
      const compared = [...expected.values()].reduce((sum, trades) => sum + trades.length, 0)
      return { compared, differing }
    },
  }
}
