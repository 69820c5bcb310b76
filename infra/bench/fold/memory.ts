import type { WalletEvent } from '../../../pipeline/domain/event.ts'
import { WSOL } from '../../../pipeline/domain/quote.ts'
import { createRegistry } from '../../../pipeline/runtime/telemetry.ts'
import type { Store } from '../../../pipeline/store/store.ts'
import { WalletBooks } from '../../../pipeline/workers/fold/wallet-books.ts'
import { createFoldMetrics } from '../../../pipeline/workers/telemetry.ts'
import { createWorkload } from './workload.ts'

const WALLETS_AT_ONCE = 100

/**
 * Resident memory of this process in bytes, with the books of `wallets` wallets in memory. Each
 * wallet has `positions` positions of two lots, the older partly sold. Nothing is stored.
 */
export async function residentWith(wallets: number, positions: number): Promise<number> {
  const { mintOf } = createWorkload({ wallets, tokensPerWallet: positions })
  const store: Store = {
    kind: 'clickhouse',
    query: async () => [],
    insert: async () => {},
    command: async () => {},
    ping: async () => {},
    close: async () => {},
  }
  const metrics = createFoldMetrics(createRegistry())
  const books = new WalletBooks({ store, metrics, now: Date.now })

  const eventsOf = (wallet: number): WalletEvent[] =>
    Array.from({ length: 3 * positions }, (_, n) => {
      const isSell = n % 3 === 2
      const amount = isSell ? 1_000_000_007n : BigInt(5_000_000_000 + wallet * 31 + n)
      const mint = mintOf(wallet, Math.floor(n / 3))
      return {
        kind: 'swap',
        slot: 400_000_000 + n,
        txIndex: 3,
        wallet,
        eventIndex: 0,
        blockTime: 1_700_000_000 + n * 60,
        signature: '',
        side: isSell ? 'sell' : 'buy',
        baseMint: mint,
        baseAmount: amount,
        baseDecimals: 6,
        quoteMint: WSOL,
        quoteAmount: amount / 7n,
        program: 'pumpswap',
        programId: mint,
        pool: mint,
        confidence: 'high',
        quoteMismatch: false,
        feeLamports: 0n,
        solPriceUsdE9: null,
      }
    })
  for (let first = 1; first <= wallets; first += WALLETS_AT_ONCE) {
    const some = Array.from({ length: WALLETS_AT_ONCE }, (_, at) => first + at)
    // The first flush loads the wallets, the second adds the events.
    for (const news of [
      new Map(),
      new Map(some.map((wallet) => [wallet, { events: eventsOf(wallet), balances: [] }])),
    ]) {
      const preparation = await books.plan(some)
      await books.markLate(news, preparation)
      await books.fold(news, preparation)
    }
  }
  const { rss } = process.memoryUsage()
  if (books.stateOf(1)?.tokens.size !== positions) throw new Error('the books are not in memory')
  return rss
}
