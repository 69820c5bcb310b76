import { byteWriter } from '../byte-writer.ts'
import { transferToken } from '../native.ts'
import { TOKEN } from '../programs.ts'
import {
  type AccountMeta,
  readonly,
  signer,
  type TransactionBuilder,
  writable,
} from '../transaction-builder.ts'
import { priceAt } from '../universe.ts'
import { sqrtPriceX64, WHIRLPOOL_PROGRAM } from '../whirlpool-account.ts'
import {
  direction,
  feeOf,
  fillOf,
  isBaseFirst,
  lookupTableOf,
  poolVaults,
  type Venue,
} from './pool.ts'
import { refuse } from './pumpfun.ts'

const FEE_BPS = 30n
const AMOUNT_OUT_BELOW_MINIMUM = 6_036

/**
 * Orca Whirlpool `swap` (u64 amount, u64 threshold, u128 price limit, bool exact in, bool a to b; 11 accounts): two SPL Token transfers and a
 * `Traded` event in the logs. Source: the program's IDL.
 */
export const orcaWhirlpoolVenue: Venue = {
  accounts: (coin) => poolVaults(coin, coin.key('pool')),
  table: (coin) =>
    lookupTableOf(coin, () => [
      TOKEN,
      ...['pool', 'vault-base', 'vault-quote', 'ticks-1', 'ticks-2', 'ticks-3', 'oracle'].map(
        (name) => coin.key(name),
      ),
    ]),
  plan(order) {
    const { coin, trader } = order
    const fill = fillOf(order, FEE_BPS)
    const { from, to, vaultIn, vaultOut } = direction(order)
    const [given, got] = order.side === 'buy' ? [fill.quote, fill.base] : [fill.base, fill.quote]
    const sides = [
      [order.base, coin.key('vault-base')],
      [order.quote, coin.key('vault-quote')],
    ]
    const [a, b] = isBaseFirst(coin) ? sides : sides.reverse()
    const accounts: AccountMeta[] = [
      readonly(TOKEN),
      signer(trader),
      writable(coin.key('pool')),
      writable(a![0]!),
      writable(a![1]!),
      writable(b![0]!),
      writable(b![1]!),
      writable(coin.key('ticks-1')),
      writable(coin.key('ticks-2')),
      writable(coin.key('ticks-3')),
      writable(coin.key('oracle')),
    ]
    const aToB = (order.side === 'sell') === isBaseFirst(coin)
    const data = byteWriter(42)
      .hex('f8c69e91e17587c8')
      .u64(given)
      .u64((got * 99n) / 100n)
      .u128(aToB ? 4_295_048_016n : 79_226_673_515_401_279_992_447_579_055n)
      .bool(true)
      .bool(aToB)
      .done()
    const record = (tx: TransactionBuilder) =>
      tx.call(
        WHIRLPOOL_PROGRAM,
        accounts,
        data,
        () => {
          tx.log('Instruction: Swap')
          if (order.refuse) refuse(tx, 'AmountOutBelowMinimum', AMOUNT_OUT_BELOW_MINIMUM)
          transferToken(tx, from, vaultIn, trader, given)
          transferToken(tx, vaultOut, to, coin.key('pool'), got)
          const price = isBaseFirst(coin)
            ? priceAt(coin, order.slot)
            : 1 / priceAt(coin, order.slot)
          const fee = feeOf(given, FEE_BPS)
          const event = byteWriter(160)
            .hex('e1ca49af932ba096')
            .key(coin.key('pool'))
            .bool(aToB)
            .u128(sqrtPriceX64(price))
            .u128(sqrtPriceX64(price))
            .u64(given)
            .u64(got)
            .u64(0)
            .u64(0)
            .u64(fee - fee / 8n)
            .u64(fee / 8n)
            .done()
          tx.logData(event)
        },
        38_000,
      )
    return { program: WHIRLPOOL_PROGRAM, accounts, fill, record }
  },
}
