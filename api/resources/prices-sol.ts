import { z } from 'zod'
import { nearestNumber } from '../../pipeline/domain/amount.ts'
import { readSolPriceAt } from '../../pipeline/store/tables/sol-prices.ts'
import { componentSchema } from '../items/component-schema.ts'
import { seconds, time } from '../items/fields.ts'
import { optionalTime } from './parameters.ts'
import { type ResourceDeps, resource } from './resource.ts'

const SolPriceAnswer = componentSchema('SolPriceAnswer', 'The price of SOL in USD at a time.', {
  at: time.nullable().describe('The time asked for; null before the first slot'),
  price_usd: z.number().nullable().describe('USD for one SOL; null where none is known'),
  time: time.nullable().describe('When the price held, at or before `at`'),
  age_seconds: seconds.nullable().describe('`at` less `time`'),
  source: z.enum(['pool', 'file']).nullable().meta({
    description: '`pool`: a SOL/USDC pool on the chain; `file`: history that the operator loaded',
  }),
})
export type SolPriceAnswer = z.infer<typeof SolPriceAnswer>

const UNKNOWN = { price_usd: null, time: null, age_seconds: null, source: null }

/** `GET /prices/sol`: the price at which swaps at a time are valued (rules C1, L11). */
export function pricesSol({
  position,
  solPriceMaxAgeSeconds,
}: ResourceDeps & { readonly solPriceMaxAgeSeconds: number }) {
  return resource({
    path: '/prices/sol',
    price: 1,
    docs: {
      tag: 'Prices',
      summary: 'SOL in USD at a time',
      description:
        'The price at which trades of that time in USDC and USDT are valued in SOL: the newest one at or before `at`, an hour old at most. A time after the newest stored block counts as that of the block. Nulls where no price is known.',
      example: {
        at: 1_790_000_000,
        price_usd: 151.273,
        time: 1_789_999_998,
        age_seconds: 2,
        source: 'pool',
      },
    },
    query: z.object({
      at: optionalTime.describe('Unix seconds; by default the time of the newest stored block'),
    }),
    answer: SolPriceAnswer,
    isHot: ({ query: { at } }) => at === null,
    async handle({ query }, { store }) {
      const now = position.stored()?.blockTime ?? null
      const at = query.at === null || now === null ? now : Math.min(query.at, now)
      const found = at === null ? null : await readSolPriceAt(store, at, solPriceMaxAgeSeconds)
      if (at === null || found === null) return { body: { at, ...UNKNOWN } }
      const { time, source, usdE9 } = found
      const price_usd = nearestNumber(usdE9, 1_000_000_000n)
      return { body: { at, price_usd, time, age_seconds: at - time, source } }
    },
  })
}
