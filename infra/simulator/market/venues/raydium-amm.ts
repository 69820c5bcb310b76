import { byteWriter } from '../byte-writer.ts'
import { wellKnown } from '../key.ts'
import { transferToken } from '../native.ts'
import { TOKEN } from '../programs.ts'
import { type AccountMeta, readonly, signer, writable } from '../transaction-builder.ts'
import { reservesAt } from '../universe.ts'
import { lookupTable, poolVaults, sidesOf, type Venue } from './pool.ts'

/** Raydium AMM v4. */
export const RAYDIUM_AMM_PROGRAM = wellKnown('675kPX9MHTjS2zt1qfr1NYHuzeLXfQM9H24wFSUt1Mp8')
const AUTHORITY = wellKnown('5Q544fKrFoe6tsEbD7S8EmxGTJYAKtTVhAW5Q5pge4j1')
const OPENBOOK = wellKnown('srmqPvymJeFKQ4zGQed1GFppgkRHL9kaELCbyksJtPX')
const FEE_BPS = 25n
const EXCEEDED_SLIPPAGE = 30
/** The accounts of the coin's order book that a swap writes, by name. */
const BOOK = ['market', 'bids', 'asks', 'event-queue', 'market-base', 'market-quote']

/**
 * Raydium AMM v4 `swap_base_in` (9: u64 amount in, u64 minimum out), with 18 accounts or, without
 * the target orders, 17. Two SPL Token transfers and a `ray_log` line. Source: raydium-amm,
 * `instruction.rs` and `log.rs`.
 */
export const raydiumAmmVenue: Venue = {
  accounts: (coin) => poolVaults(coin, AUTHORITY),
  table: (coin) =>
    lookupTable(
      coin,
      [TOKEN, AUTHORITY, OPENBOOK],
      [
        ...['pool', 'open-orders', 'target-orders', 'vault-base', 'vault-quote'],
        ...[...BOOK, 'market-signer'],
      ],
    ),
  plan(order) {
    const { coin, trader, slot } = order
    const { fill, given, got, input, output } = sidesOf(order, FEE_BPS)
    const least = (got * 95n) / 100n
    const accounts: AccountMeta[] = [
      readonly(TOKEN),
      writable(coin.key('pool')),
      readonly(AUTHORITY),
      writable(coin.key('open-orders')),
      ...(slot % 3 === 0 ? [] : [writable(coin.key('target-orders'))]),
      writable(coin.key('vault-base')),
      writable(coin.key('vault-quote')),
      readonly(OPENBOOK),
      ...BOOK.map((name) => writable(coin.key(name))),
      readonly(coin.key('market-signer')),
      writable(input.account),
      writable(output.account),
      signer(trader),
    ]
    return {
      program: RAYDIUM_AMM_PROGRAM,
      accounts,
      data: byteWriter(17).u8(9).u64(given, least).done(),
      fill,
      units: 20_000,
      run(tx) {
        if (order.refuse) {
          tx.log('Error: exceeds desired slippage limit')
          tx.fail(EXCEEDED_SLIPPAGE)
        }
        const reserves = reservesAt(coin, slot)
        // 3: swap base in; direction 1 gives quote for coin, 2 coin for quote.
        const line = byteWriter(57)
          .u8(3)
          .u64(given, least, order.side === 'buy' ? 1 : 2, tx.token(input.account)!.amount)
          .u64(reserves.base, reserves.quote, got)
          .done()
        tx.log(`ray_log: ${line.toString('base64')}`)
        transferToken(tx, input.account, input.vault, trader, given)
        transferToken(tx, output.vault, output.account, AUTHORITY, got)
      },
    }
  },
}
