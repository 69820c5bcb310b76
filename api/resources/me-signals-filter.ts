import { z } from 'zod'
import type { Store } from '../../pipeline/store/store.ts'
import type { CursorCodec } from '../cursor.ts'
import { EXAMPLE_SIGNAL, SignalItem, signalItem } from '../items/signal.ts'
import { readSignals } from '../rows/signal-rows.ts'
import { createWatchlistReader } from '../rows/watchlist-reader.ts'
import { integer } from './parameters.ts'
import { dashboardResource } from './resource.ts'

const SignalsAnswer = z
  .strictObject({ items: z.array(SignalItem).describe('Newest first') })
  .meta({ id: 'SignalsAnswer', description: 'The newest signals of the filter strategies.' })

/** `GET /me/signals/filter`: matches of filter strategies on tokens (contract 4.4, rule G5). */
export function meSignalsFilter({
  store,
  now,
  cursors,
}: {
  readonly store: Store
  readonly now: () => number
  readonly cursors: Pick<CursorCodec, 'tradeId'>
}) {
  const watchlist = createWatchlistReader(store, now)
  return dashboardResource({
    path: '/me/signals/filter',
    needsPro: true,
    docs: {
      tag: 'Pro',
      summary: 'Signals of the filter strategies',
      description:
        'A strategy is a name and conditions on fields of the trending watchlist. It fires once for each listing of a token, when all its conditions first hold. The figures are those of that moment; only `current_mcap` and `multiple` are newer. If a trade behind the signal is withdrawn later, the figures stay, and `withdrawn_trades` names the trade. Requires active Pro.',
      problems: ['unavailable'],
      example: { items: [EXAMPLE_SIGNAL] },
    },
    query: z.object({
      limit: integer(1, 100, 25).describe('Number of signals, from the newest'),
    }),
    answer: SignalsAnswer,
    async handle({ query: { limit } }) {
      const rows = await readSignals(store, await watchlist(), {
        limit,
        tradeId: cursors.tradeId,
      })
      return { body: { items: rows.map(signalItem) } }
    },
  })
}
