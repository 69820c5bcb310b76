import { aliasOf } from '../../pipeline/domain/alias.ts'
import { Rational } from '../../pipeline/testing/rational.ts'
import type { SlowEvent } from '../../pipeline/testing/slow-events.ts'
import type { SlowPrice } from '../../pipeline/testing/slow-prices.ts'
import {
  type PriceAt,
  type SlowPosition,
  slowEventsOf,
  slowPoints,
  slowPositions,
  slowWorth,
} from '../../pipeline/testing/slow-profit.ts'
import { type FactsByMint, inSol, oneAnswer, type SlowAnswer } from './slow-answer.ts'

const MODES = ['raw', 'strict'] as const

/** What the answers about a wallet's profit follow from. */
export interface ProfitInputs {
  /** Its events, in order of the event key. */
  readonly events: readonly SlowEvent[]
  readonly priceAt: PriceAt
  readonly facts: FactsByMint
  /** Block time of the newest stored slot. */
  readonly now: number
}

/** What `/positions` and `/pnl` of a wallet must answer, in both modes (rules L6 to L8). */
export function slowProfitAnswers(wallet: number, inputs: ProfitInputs): SlowAnswer[] {
  const { priceAt, now } = inputs
  return MODES.flatMap((mode) => {
    const events = slowEventsOf(inputs.events, mode)
    return [
      ...positionsAnswers(wallet, mode, { ...inputs, events }),
      ...pnlAnswers(wallet, mode, events, priceAt, now),
    ]
  })
}

function positionsAnswers(
  wallet: number,
  mode: (typeof MODES)[number],
  { events, priceAt, facts, now }: ProfitInputs,
): SlowAnswer[] {
  const all = slowPositions(events)
  return (['open', 'closed', 'all'] as const).map((status) => ({
    path: `/wallets/${aliasOf(wallet)}/positions?status=${status}&mode=${mode}&limit=7`,
    paging: 'cursor',
    fields: { wallet: aliasOf(wallet), status, mode, as_of: now },
    items: all
      .filter(({ amount }) => status === 'all' || amount > 0n === (status === 'open'))
      .map((position) => positionItem(position, priceAt(position.mint, now), now, facts)),
  }))
}

function positionItem(
  position: SlowPosition,
  found: SlowPrice | null,
  now: number,
  facts: FactsByMint,
): Record<string, unknown> {
  const { mint, decimals, amount, cost, realized, boughtLamports, soldLamports } = position
  const { firstTradeTime: first, lastTradeTime: last } = position
  const price = amount > 0n ? found : null
  const whole = new Rational(10n ** BigInt(decimals), 10n ** 9n)
  const value = price === null ? null : slowWorth(amount, price)
  let profit: bigint | null = realized
  if (amount > 0n) profit = value === null ? null : realized + value - cost
  let held: number | null = null
  if (first !== null && last !== null) held = (amount > 0n ? now : last) - first
  return {
    token: {
      address: mint,
      decimals,
      symbol: facts.get(mint)?.symbol || null,
      name: facts.get(mint)?.name || null,
    },
    status: amount > 0n ? 'open' : 'closed',
    amount: String(amount),
    cost_sol: inSol(cost),
    avg_cost_sol: amount > 0n ? new Rational(cost, amount).times(whole).toNumber() : null,
    realized_sol: inSol(realized),
    price_sol: price === null ? null : price.price.times(whole).toNumber(),
    price_source: price?.source ?? null,
    price_age_seconds: price === null ? null : now - price.time,
    value_sol: value === null ? null : inSol(value),
    unrealized_sol: value === null ? null : inSol(value - cost),
    bought_sol: inSol(boughtLamports),
    sold_sol: inSol(soldLamports),
    buys: position.buys,
    sells: position.sells,
    return_pct:
      profit === null || boughtLamports === 0n
        ? null
        : new Rational(100n * profit, boughtLamports).toNumber(),
    holding_seconds: held,
    first_trade_at: first,
    last_trade_at: last,
  }
}

function pnlAnswers(
  wallet: number,
  mode: (typeof MODES)[number],
  events: readonly SlowEvent[],
  priceAt: PriceAt,
  now: number,
): SlowAnswer[] {
  const from = now - 5 * 3600
  const answer = (interval: '1h' | '1d', query: string, times: number[]) =>
    oneAnswer(`/wallets/${aliasOf(wallet)}/pnl?interval=${interval}&mode=${mode}${query}`, {
      wallet: aliasOf(wallet),
      interval,
      mode,
      as_of: now,
      count: times.length,
      items: slowPoints(events, times, interval === '1h' ? 3600 : 86_400, priceAt).map(
        ({ realized, value, pricedCost, ...point }) => ({
          time: point.time,
          realized_sol: inSol(realized),
          unrealized_sol: inSol(value - pricedCost),
          total_sol: inSol(realized + value - pricedCost),
          open_cost_sol: inSol(point.openCost),
          volume_sol: inSol(point.volume),
          unpriced: point.unpriced,
        }),
      ),
    })
  const multiples = (first: number, step: number) => {
    const times: number[] = []
    for (let time = first; time <= now; time += 1) if (time % step === 0) times.push(time)
    return times
  }
  const withNow = (times: number[]) => (times.at(-1) === now ? times : [...times, now])
  return [
    answer('1h', `&from=${from}`, withNow(multiples(from, 3600))),
    answer(
      '1h',
      `&from=${from}&to=${now}`,
      multiples(from, 3600).filter((time) => time < now),
    ),
    answer('1d', '', withNow(multiples(now - 30 * 86_400, 86_400))),
  ]
}
