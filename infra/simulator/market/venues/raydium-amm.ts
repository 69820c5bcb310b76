import { byteWriter } from '../byte-writer.ts'
import { wellKnown } from '../key.ts'
import { transferToken } from '../native.ts'
import { TOKEN } from '../programs.ts'
import {
  type AccountMeta,
  readonly,
  signer,
  type TransactionBuilder,
  writable,
} from '../transaction-builder.ts'
import { reservesAt } from '../universe.ts'
import { direction, fillOf, lookupTableOf, poolVaults, type Venue } from './pool.ts'

/** Raydium AMM v4. */
export const RAYDIUM_AMM_PROGRAM = wellKnown('675kPX9MHTjS2zt1qfr1NYHuzeLXfQM9H24wFSUt1Mp8')
const AUTHORITY = wellKnown('5Q544fKrFoe6tsEbD7S8EmxGTJYAKtTVhAW5Q5pge4j1')
const OPENBOOK = wellKnown('srmqPvymJeFKQ4zGQed1GFppgkRHL9kaELCbyksJtPX')
const FEE_BPS = 25n
const EXCEEDED_SLIPPAGE = 30

/**
 * Raydium AMM v4 `swap_base_in` (9: u64 amount in, u64 minimum out), with 18 accounts or, without the target orders, 17. Two SPL Token transfers
 * and a `ray_log` line. Source: raydium-amm, `instruction.rs` and `log.rs`.
 */
export const raydiumAmmVenue: Venue = {
  accounts: (coin) => poolVaults(coin, AUTHORITY),
  table: (coin) =>
    lookupTableOf(coin, () => [
      TOKEN,
      AUTHORITY,
      OPENBOOK,
      ...[
        'pool',
        'open-orders',
        'target-orders',
        'vault-base',
        'vault-quote',
        'market',
        'bids',
      ].map((name) => coin.key(name)),
      ...['asks', 'event-queue', 'market-base', 'market-quote', 'market-signer'].map((name) =>
        coin.key(name),
      ),
    ]),
  plan(order) {
    const { coin, trader, slot } = order
    const fill = fillOf(order, FEE_BPS)
    const { from, to, vaultIn, vaultOut } = direction(order)
    const [given, got] = order.side === 'buy' ? [fill.quote, fill.base] : [fill.base, fill.quote]
    const least = (got * 95n) / 100n
    const market: AccountMeta[] = [
      'market',
      'bids',
      'asks',
      'event-queue',
      'market-base',
      'market-quote',
    ]
      .map((name) => writable(coin.key(name)))
      .concat(readonly(coin.key('market-signer')))
    const accounts: AccountMeta[] = [
      readonly(TOKEN),
      writable(coin.key('pool')),
      readonly(AUTHORITY),
      writable(coin.key('open-orders')),
      ...(slot % 3 === 0 ? [] : [writable(coin.key('target-orders'))]),
      writable(coin.key('vault-base')),
      writable(coin.key('vault-quote')),
      readonly(OPENBOOK),
      ...market,
      writable(from),
      writable(to),
      signer(trader),
    ]
    const data = byteWriter(17).u8(9).u64(given).u64(least).done()
    const record = (tx: TransactionBuilder) =>
      tx.call(
        RAYDIUM_AMM_PROGRAM,
        accounts,
        data,
        () => {
          if (order.refuse) {
            tx.log('Error: exceeds desired slippage limit')
            tx.fail(EXCEEDED_SLIPPAGE)
          }
          const reserves = reservesAt(coin, slot)
          // 3: swap base in; direction 1 gives quote for coin, 2 coin for quote.
          const line = byteWriter(57)
            .u8(3)
            .u64(given)
            .u64(least)
            .u64(order.side === 'buy' ? 1 : 2)
            .u64(tx.token(from)!.amount)
            .u64(reserves.base)
            .u64(reserves.quote)
            .u64(got)
            .done()
          tx.log(`ray_log: ${line.toString('base64')}`)
          transferToken(tx, from, vaultIn, trader, given)
          transferToken(tx, vaultOut, to, AUTHORITY, got)
        },
        20_000,
      )
    return { program: RAYDIUM_AMM_PROGRAM, accounts, fill, record }
  },
}
