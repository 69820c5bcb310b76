import { resolve } from 'node:path'
import { z } from 'zod'
import { aliasOf } from '../../pipeline/domain/alias.ts'
import { LAMPORTS_PER_SOL, nearestNumber } from '../../pipeline/domain/amount.ts'
import { nearestTo } from '../../pipeline/domain/fraction.ts'
import { ServiceError } from '../../pipeline/domain/service-error.ts'
import { EventLoopYield } from '../../pipeline/runtime/event-loop-yield.ts'
import { readTextFile } from '../../pipeline/runtime/read-text-file.ts'
import { parseStrategies } from '../../pipeline/trending/strategies-file.ts'
import type { Strategy } from '../../pipeline/trending/strategy.ts'
import { OutcomeTracker, type SignalOutcome } from '../../pipeline/trending/strategy-outcomes.ts'
import { type Signal, SignalDetector } from '../../pipeline/trending/strategy-signal.ts'
import { TICK_SECONDS } from '../../pipeline/trending/watched-token.ts'
import { replayTicks } from '../../pipeline/workers/trending/trending-ticks.ts'
import { type Command, optionCommand } from './command.ts'

/**
 * `--from`, `--to`: unix seconds, or an ISO time: a date (UTC), or a time with `Z` or an offset.
 */
const timeOption = z.string().transform((text, context): number => {
  if (/^[0-9]{1,10}$/.test(text)) return Number(text)
  const isTime = /^\d{4}-\d\d-\d\d(T\d\d:\d\d(:\d\d(\.\d+)?)?(Z|[+-]\d\d:\d\d))?$/.test(text)
  const ms = isTime ? Date.parse(text) : Number.NaN
  if (ms >= 0) return Math.floor(ms / 1000)
  const expected = 'expected a time, for example 2026-11-20T08:00:00Z or 1790000000'
  context.addIssue({ code: 'custom', message: expected })
  return z.NEVER
})

/**
 * `signals backtest --strategy FILE --from .. [--to ..] [--name ..]`: shows which signals the
 * strategies of a file, or the named one, would have fired over stored history from `--from` on,
 * and their outcome within 24 hours (rule G5). It computes every tick again, reads event tables
 * only and writes nothing. By default `--to` is the newest tick. Rejects with
 * `bad_strategies_file`, listing every fault.
 */
export const signalsBacktest: Command = {
  ...optionCommand({
    name: 'signals backtest',
    summary: 'Shows which signals filter strategies would have fired over stored history.',
    usage: '--strategy FILE --from <time> [--to <time>] [--name <strategy>]',
    options: {
      strategy: z.string(),
      from: timeOption,
      to: timeOption.optional(),
      name: z.string().optional(),
    },
    async run({ strategy: file, from, to, name }, parts, report) {
      const all = parseStrategies(await readTextFile('--strategy', file), file, '--strategy')
      const strategies = name === undefined ? all : all.filter((one) => one.name === name)
      if (name !== undefined && strategies.length === 0)
        throw new ServiceError(
          'invalid_argument',
          `--name: no such strategy; there are ${all.map((one) => one.name).join(', ')}`,
        )
      if (to !== undefined && to < from)
        throw new ServiceError('invalid_argument', '--from: later than --to')
      const { store, salt, solPriceMaxAgeSeconds, stop } = parts
      const range = { from, through: to ?? Number.MAX_SAFE_INTEGER }
      const total = to === undefined ? null : Math.floor((to - from) / TICK_SECONDS) + 1
      const firings = new SignalDetector()
      const outcomes = new OutcomeTracker()
      const loopYield = new EventLoopYield()
      const ticks = { count: 0, first: null as number | null, last: null as number | null }
      let fired = 0
      for await (const tick of replayTicks(store, { salt, solPriceMaxAgeSeconds }, range)) {
        if (stop.aborted) throw new ServiceError('closed', 'stopped before the end')
        const signals = firings.detect(strategies, tick)
        firings.add(signals)
        firings.forget(tick.left)
        outcomes.add(tick, signals)
        fired += signals.length
        ticks.count += 1
        ticks.first ??= tick.at
        ticks.last = tick.at
        report({
          what: 'ticks',
          done: ticks.count,
          total,
          detail: { what: 'signals', done: fired },
        })
        // Yields to the event loop, because the process that owns the data also serves requests.
        if (loopYield.isDue) await loopYield.wait()
      }
      return { document: documentOf(strategies, ticks, outcomes) }
    },
  }),
  // The process that owns the data reads the file, and may run in another folder.
  portable: (args) =>
    args.map((word, at) => (args[at - 1] === '--strategy' ? resolve(word) : word)),
}

function documentOf(
  strategies: readonly Strategy[],
  ticks: { readonly count: number; readonly first: number | null; readonly last: number | null },
  outcomes: OutcomeTracker,
) {
  const all = outcomes.outcomes()
  return {
    from: ticks.first,
    to: ticks.last,
    ticks: ticks.count,
    strategies: strategies.map(({ name, description }) => {
      const own = all.filter(({ signal }) => signal.strategy === name)
      const of = (figure: 'after1h' | 'after24h' | 'peak') =>
        summaryOf(own.map(({ outcome }) => outcome[figure]))
      return {
        strategy: name,
        description,
        summary: {
          signals: own.length,
          multiple_1h: of('after1h'),
          multiple_24h: of('after24h'),
          peak_multiple: of('peak'),
        },
        signals: own.map(({ signal, outcome }) => signalOf(signal, outcome)),
      }
    }),
  }
}

/** Count, median and share above 1 of the known multiples. */
function summaryOf(multiples: readonly (number | null)[]) {
  const known = multiples.filter((one) => one !== null).sort((a, b) => a - b)
  const middle = known.length >> 1
  const [lower = 0, upper = 0] = [
    known[known.length % 2 === 0 ? middle - 1 : middle],
    known[middle],
  ]
  return known.length === 0
    ? { known: 0, median: null, share_above_1: null }
    : {
        known: known.length,
        median: (lower + upper) / 2,
        share_above_1: known.filter((one) => one > 1).length / known.length,
      }
}

/** A signal as `GET /me/signals/filter` shows it, with its outcome. */
function signalOf(signal: Signal, { after1h, after24h, peak, peakAt }: SignalOutcome) {
  const sol = (lamports: bigint) => nearestNumber(lamports, LAMPORTS_PER_SOL)
  return {
    id: signal.id,
    fired_at: signal.firedAt,
    mint: signal.mint,
    symbol: signal.symbol,
    name: signal.name,
    conviction: signal.conviction,
    wallets_holding: signal.walletsHolding,
    wallets: signal.wallets.map(aliasOf),
    trigger_mcap: nearestTo(signal.triggerMcap),
    sol_held: sol(signal.heldLamports),
    buy_volume: sol(signal.buyLamports),
    sell_volume: sol(signal.sellLamports),
    reasons: signal.reasons,
    multiple_1h: after1h,
    multiple_24h: after24h,
    peak_multiple: peak,
    peak_at: peakAt,
  }
}
