import { resolve } from 'node:path'
import { z } from 'zod'
import { aliasOf } from '../../pipeline/domain/alias.ts'
import { LAMPORTS_PER_SOL, nearestNumber } from '../../pipeline/domain/amount.ts'
import { ServiceError } from '../../pipeline/domain/service-error.ts'
import { Turns } from '../../pipeline/runtime/turns.ts'
import { parseStrategies } from '../../pipeline/trending/strategies-file.ts'
import type { Strategy } from '../../pipeline/trending/strategy.ts'
import { OutcomeTracker, type SignalOutcome } from '../../pipeline/trending/strategy-outcomes.ts'
import { type Signal, SignalDetector } from '../../pipeline/trending/strategy-signal.ts'
import { TICK_SECONDS } from '../../pipeline/trending/watched-token.ts'
import { replayTicks } from '../../pipeline/workers/trending/trending-ticks.ts'
import { readTextFile } from '../service/source.ts'
import { type Command, optionCommand } from './command.ts'

/** `--from`, `--to`: a second, as unix seconds or an ISO time: a date (UTC), or a time with `Z` or an offset. */
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
 * `signals backtest --strategy FILE --from .. [--to ..] [--name ..]`: what the strategies of a file (or the one named) would have fired over stored history, had
 * they been in force from `--from` on, and what became of it within 24 hours (rule G5). Computes every tick anew with the engine, reads event tables alone and writes
 * nothing. `--to` is the newest tick by default. Rejects with `bad_strategies_file`, telling every fault.
 */
export const signalsBacktest: Command = {
  ...optionCommand({
    name: 'signals backtest',
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
      const turns = new Turns()
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
        // The process that owns the data has others to answer.
        if (turns.isDue) await turns.take()
      }
      return { document: documentOf(strategies, ticks, outcomes) }
    },
  }),
  // The file is read by the process that owns the data, which may be in another folder.
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

/** Of the multiples that are known: how many, their median, and the share of those above 1. */
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

/** A signal as `GET /me/signals/filter` has it, with what became of it. */
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
    trigger_mcap: signal.triggerMcap,
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
