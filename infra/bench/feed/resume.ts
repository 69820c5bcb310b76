import { BEGINNING, createCursorCodec, type FeedPosition } from '../../../api/cursor.ts'
import { tradeItem } from '../../../api/items/trade.ts'
import { TradeHistory } from '../../../api/stream/trade-history.ts'
import { serveSwap } from '../../../pipeline/domain/perturbation.ts'
import { createStore } from '../../../pipeline/store/create-store.ts'
import { migrate } from '../../../pipeline/store/migrate.ts'
import { loadConfig } from '../../service/config.ts'
import { print } from '../kit/figures.ts'

const SECRET_KEY = Buffer.alloc(32, 1)

const ROWS_AT_ONCE = 50_000

/**
 * Resumes of everything from storage, as for clients that return after a day, rendered and framed;
 * alone, and eight clients at once.
 */
export async function measureResume(
  swaps: number,
  env: Readonly<Record<string, string>>,
): Promise<void> {
  const store = await createStore(loadConfig(env).store)
  try {
    await migrate(store)
    // Batches are small enough to be stored before the timeout on a busy machine.
    for (let at = 0; at < swaps; at += ROWS_AT_ONCE)
      await store.command(
        `INSERT INTO swaps (slot, tx_index, wallet, event_index, block_time, signature, side, base_mint, base_amount, base_decimals, quote_mint, quote_amount, program, program_id, confidence, quote_mismatch, fee_lamports, sol_price_usd_e9, value_lamports)
       SELECT 1000000 + intDiv(number, 20), number % 20, 1 + number % 250, 0, 1790000000 + intDiv(number, 50), repeat('5', 88), 'buy', 'DezXAZ8z7PnrnRJjz3wXBoRgixCa6xjnB7YaB1pPB263', 123456789, 6, 'So11111111111111111111111111111111111111112', 1500000000, 'pumpswap', 'p', 'high', false, 0, NULL, 1500000000
       FROM numbers({at:UInt64}, {rows:UInt64})`,
        { at, rows: Math.min(ROWS_AT_ONCE, swaps - at) },
      )
    const stored = { slot: 1_000_000 + Math.floor((swaps - 1) / 20), blockTime: 1_790_000_000 }
    const history = new TradeHistory({
      store,
      storeOf: () => store,
      position: { stored: () => stored },
      epoch: 0,
      retentionHours: 24,
      cursors: createCursorCodec({ secretKeys: [SECRET_KEY], tradeIdKey: SECRET_KEY }),
      render: (swap) => JSON.stringify(tradeItem(serveSwap(swap, null))),
    })
    const all = { wallets: null, mints: null }
    const walk = async (account: string, limit: number) => {
      let position: FeedPosition = {
        key: { ...BEGINNING, slot: 999_999 },
        late: { epoch: 0, passedSlot: 999_999, offsets: [] },
      }
      let count = 0
      while (history.hasMore(position) && count < limit) {
        const from = position
        const page = await history.page(account, () => ({ from, filter: all }))
        if (page === null) break
        count += page.steps.length
        position = page.end
      }
      return count
    }
    await walk('bench', 20_000)
    for (const [clients, limit] of [
      [1, 100_000],
      [8, 25_000],
    ] as const) {
      const started = performance.now()
      const counts = await Promise.all(
        Array.from({ length: clients }, (_, n) => walk(`bench-${n}`, limit)),
      )
      const seconds = (performance.now() - started) / 1000
      const total = counts.reduce((a, b) => a + b, 0)
      print(
        `\nresume from storage (${swaps} swaps stored), ${clients} client${clients > 1 ? 's' : ''}: ${Math.round(total / seconds)} trades a second`,
      )
    }
  } finally {
    await store.close()
  }
}
