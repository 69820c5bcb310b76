import { z } from 'zod'
import { aliasOf } from '../../pipeline/domain/alias.ts'
import { FOLD_MODES } from '../../pipeline/fold/fold-event.ts'
import { ApiError } from '../errors.ts'
import { componentSchema } from '../items/component-schema.ts'
import { alias, count, time } from '../items/fields.ts'
import { ProfitPointItem, profitPointItem } from '../items/profit-point.ts'
import { readProfitPoints } from '../rows/profit-points.ts'
import { aliasParameter, choice, optionalTime, requireOrder, trackedWallet } from './parameters.ts'
import { type ResourceDeps, type ResourceDocs, resource } from './resource.ts'
import { modeParameter } from './wallet-positions.ts'

/** Seconds of each value of `interval`. */
const INTERVALS = { '1h': 3600, '1d': 86_400 } as const
const intervals = ['1h', '1d'] as const

const MOST_POINTS = 1000
const DEFAULT_SECONDS = 30 * 86_400

const ProfitAnswer = componentSchema('ProfitAnswer', 'Profit of a wallet over time.', {
  wallet: alias,
  interval: z.enum(intervals).describe('The parameter `interval`'),
  mode: z.enum(FOLD_MODES).describe('The parameter `mode`'),
  as_of: time.nullable().describe('Time of the newest stored block; null before the first one'),
  count: count.describe('Number of items'),
  items: z.array(ProfitPointItem).max(MOST_POINTS).describe('Points, oldest first'),
})
export type ProfitAnswer = z.infer<typeof ProfitAnswer>

const DOCS: ResourceDocs<ProfitAnswer> = {
  tag: 'Wallets',
  summary: 'Profit of one wallet over time',
  description:
    'Points at full hours or days in UTC from `from` to before `to`, and one at the newest stored block if `to` is after it; at most 1000. What happened at or before a point counts, in its second too, and the prices of then. A position without a price counts in `unpriced` and `open_cost_sol` only, so `total_sol` is what is known.',
  problems: ['wallet_not_found'],
  example: {
    wallet: 'W12',
    interval: '1d',
    mode: 'raw',
    as_of: 1_790_003_600,
    count: 1,
    items: [
      {
        time: 1_789_948_800,
        realized_sol: 12.5,
        unrealized_sol: -0.75,
        total_sol: 11.75,
        open_cost_sol: 4.25,
        volume_sol: 31,
        unpriced: 1,
      },
    ],
  },
}

/**
 * `GET /wallets/{alias}/pnl`: profit of a wallet at full hours or days (rule L8). More than 1000
 * points are 400 `invalid_parameter`, an unknown alias is 404 `wallet_not_found`.
 */
export function walletPnl(deps: ResourceDeps & { readonly solPriceMaxAgeSeconds: number }) {
  const { position, perturb, histories, solPriceMaxAgeSeconds } = deps
  return resource({
    path: '/wallets/:alias/pnl',
    price: 1,
    docs: DOCS,
    params: z.object({ alias: aliasParameter }),
    query: z.object({
      interval: choice(intervals, '1d').describe('Time between points'),
      from: optionalTime.describe('Unix seconds, inclusive; by default 30 days before the end'),
      to: optionalTime.describe('Unix seconds, exclusive; by default after the newest block'),
      mode: modeParameter,
    }),
    answer: ProfitAnswer,
    isHot: () => true,
    read(input, context) {
      requireOrder(input.query, context)
      return input
    },
    async handle({ params: { alias }, query: { interval, from, to, mode } }, { store }) {
      const wallet = trackedWallet(alias, position.walletCount())
      const stored = position.stored()
      const seconds = INTERVALS[interval]
      const times = stored === null ? [] : pointTimes({ seconds, from, to }, stored.blockTime)
      const points =
        stored === null || times.length === 0
          ? []
          : await readProfitPoints(store, {
              wallet,
              mode,
              perturb,
              histories,
              times,
              interval: seconds,
              prices: {
                stored: stored.slot,
                wasRedecoded: position.wasRedecoded(),
                solPriceMaxAgeSeconds,
              },
            })
      return {
        body: {
          wallet: aliasOf(wallet),
          interval,
          mode,
          as_of: stored?.blockTime ?? null,
          count: points.length,
          items: points.map((point) => profitPointItem(point, perturb !== null)),
        },
      }
    },
  })
}

/**
 * Returns the times of the points (rule L8), ascending. Throws `invalid_parameter` for more than
 * 1000.
 */
function pointTimes(
  of: { readonly seconds: number; readonly from: number | null; readonly to: number | null },
  now: number,
): number[] {
  const { seconds, to } = of
  const end = to === null ? now + 1 : Math.min(to, now + 1)
  const from = of.from ?? Math.max(0, end - 1 - DEFAULT_SECONDS)
  const first = Math.ceil(from / seconds) * seconds
  const multiples = Math.max(0, Math.ceil((end - first) / seconds))
  const isNowExtra = end > now && from <= now && now % seconds !== 0
  if (multiples + Number(isNowExtra) > MOST_POINTS)
    throw new ApiError('invalid_parameter', { errors: [TOO_MANY] })
  const times = Array.from({ length: multiples }, (_, at) => first + at * seconds)
  return isNowExtra ? [...times, now] : times
}

const TOO_MANY = {
  in: 'query',
  name: 'from',
  message: `expected at most ${MOST_POINTS} points: a later from, an earlier to, or interval=1d`,
} as const
