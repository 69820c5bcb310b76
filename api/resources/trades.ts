import { z } from 'zod'
import type { EventKey } from '../../pipeline/domain/event-key.ts'
import { BEGINNING } from '../cursor.ts'
import { TradeItem, tradeItem } from '../items/trade.ts'
import { type SwapRow, swapOfRow } from '../rows/swap-row.ts'
import { cursor, integer, NONE } from './parameters.ts'
import { type ResourceDeps, resource } from './resource.ts'

/**
 * `GET /trades`: trades of all tracked wallets, newest first (contract 4.3). Pages follow the event key, so a walk skips and repeats nothing while trades
 * arrive. `X-Head-Cursor` is the position of the newest stored trade, to follow the socket from (decisions D4).
 */
export function trades({ store, position, cursors }: ResourceDeps) {
  async function newest(before: EventKey | null, limit: number): Promise<SwapRow[]> {
    const stored = position.stored()
    if (stored === null) return []
    const key = before ?? BEGINNING
    return store.query<SwapRow>(before === null ? NEWEST : OLDER, {
      stored: stored.slot,
      ...{ slot: key.slot, tx: key.txIndex, wallet: key.wallet, event: key.eventIndex },
      limit,
    })
  }

  return resource({
    path: '/trades',
    price: 3,
    params: NONE,
    query: z.object({ limit: integer(1, 100, 25), cursor: cursor(cursors, 'trades') }),
    answer: z.strictObject({
      count: z.int(),
      limit: z.int(),
      has_more: z.boolean(),
      next_cursor: z.string().nullable(),
      items: z.array(TradeItem),
    }),
    async handle({ query: { limit, cursor } }) {
      const [rows, head] = await Promise.all([
        newest(cursor, limit + 1),
        cursor === null ? undefined : newest(null, 1),
      ])
      const swaps = rows.slice(0, limit).map(swapOfRow)
      const hasMore = rows.length > limit
      const last = swaps.at(-1)
      const newestRow = (head ?? rows)[0]
      const headKey = newestRow === undefined ? BEGINNING : swapOfRow(newestRow)
      return {
        headers: { 'X-Head-Cursor': cursors.encode('trades', headKey) },
        body: {
          count: swaps.length,
          limit,
          has_more: hasMore,
          next_cursor: hasMore && last !== undefined ? cursors.encode('trades', last) : null,
          items: swaps.map(tradeItem),
        },
      }
    },
  })
}

const page = (before: string) => `
  SELECT slot, tx_index, wallet, event_index, block_time, side, base_mint, base_amount, base_decimals, quote_mint, quote_amount, program
  FROM
  (
    SELECT * FROM swaps WHERE slot <= {stored:UInt64} ${before}
    ORDER BY slot DESC, tx_index DESC, wallet DESC, event_index DESC, version DESC
    LIMIT 1 BY slot, tx_index, wallet, event_index
  )
  WHERE is_deleted = 0
  LIMIT {limit:UInt32}`
const NEWEST = page('')
// The first condition says to the primary key what the second one means.
const OLDER = page(
  'AND slot <= {slot:UInt64} AND (slot, tx_index, wallet, event_index) < ({slot:UInt64}, {tx:UInt32}, {wallet:UInt32}, {event:UInt32})',
)
