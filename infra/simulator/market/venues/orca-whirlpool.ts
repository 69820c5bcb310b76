import { byteWriter } from '../byte-writer.ts'
import { transferToken } from '../native.ts'
import { TOKEN } from '../programs.ts'
import { type AccountMeta, readonly, signer, writable } from '../transaction-builder.ts'
import { WHIRLPOOL_PROGRAM } from '../whirlpool-account.ts'
import {
  feeOf,
  isBaseFirst,
  lookupTable,
  pairOf,
  poolVaults,
  sidesOf,
  sqrtPriceX64,
  type Venue,
} from './pool.ts'
import { refuse } from './pumpfun.ts'

const FEE_BPS = 30n
const AMOUNT_OUT_BELOW_MINIMUM = 6_036

/**
 * Orca Whirlpool `swap` (u64 amount, u64 threshold, u128 price limit, bool exact in, bool a to b;
 * 11 accounts): two SPL Token transfers and a `Traded` event in the logs. Source: the program's
 * IDL.
 */
export const orcaWhirlpoolVenue: Venue = {
  accounts: (coin) => poolVaults(coin, coin.key('pool')),
  table: (coin) =>
    lookupTable(
      coin,
      [TOKEN],
      ['pool', 'vault-base', 'vault-quote', 'ticks-1', 'ticks-2', 'ticks-3', 'oracle'],
    ),
  plan(order) {
    const { coin, trader } = order
    const { fill, given, got, input, output } = sidesOf(order, FEE_BPS)
    const pool = coin.key('pool')
    const aToB = (order.side === 'sell') === isBaseFirst(coin)
    const [a, b] = aToB ? [input, output] : [output, input]
    const accounts: AccountMeta[] = [
      readonly(TOKEN),
      signer(trader),
      ...[pool, a.account, a.vault, b.account, b.vault].map(writable),
      ...['ticks-1', 'ticks-2', 'ticks-3', 'oracle'].map((name) => writable(coin.key(name))),
    ]
    const data = byteWriter(42)
      .hex('f8c69e91e17587c8')
      .u64(given, (got * 99n) / 100n)
      .u128(aToB ? 4_295_048_016n : 79_226_673_515_401_279_992_447_579_055n)
      .bool(true, aToB)
      .done()
    return {
      program: WHIRLPOOL_PROGRAM,
      accounts,
      data,
      fill,
      units: 38_000,
      run(tx) {
        tx.log('Instruction: Swap')
        if (order.refuse) refuse(tx, 'AmountOutBelowMinimum', AMOUNT_OUT_BELOW_MINIMUM)
        transferToken(tx, input.account, input.vault, trader, given)
        transferToken(tx, output.vault, output.account, pool, got)
        const root = sqrtPriceX64(pairOf(coin, order.slot).price)
        const fee = feeOf(given, FEE_BPS)
        const event = byteWriter(160)
          .hex('e1ca49af932ba096')
          .key(pool)
          .bool(aToB)
          .u128(root, root)
          .u64(given, got, 0, 0, fee - fee / 8n, fee / 8n)
          .done()
        tx.logData(event)
      },
    }
  },
}
