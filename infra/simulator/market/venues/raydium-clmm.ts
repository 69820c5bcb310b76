import { byteWriter } from '../byte-writer.ts'
import { wellKnown } from '../key.ts'
import { transferTokenChecked } from '../native.ts'
import { MEMO, TOKEN, TOKEN_2022 } from '../programs.ts'
import {
  type AccountMeta,
  readonly,
  signer,
  type TransactionBuilder,
  writable,
} from '../transaction-builder.ts'
import { priceAt } from '../universe.ts'
import { sqrtPriceX64 } from '../whirlpool-account.ts'
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

/** Raydium CLMM, concentrated liquidity. */
export const RAYDIUM_CLMM_PROGRAM = wellKnown('CAMMCzo5YL8w4VFF8KVHrK22GGUsp5VTaW7grrKgrWqK')
const CONFIG = wellKnown('9iFER3bpjf1PTTCQCfTRu17EJgvsxo9pVyA9QWwEuX4x')
const FEE_BPS = 25n
const TOO_LITTLE_OUTPUT_RECEIVED = 6_022

/**
 * Raydium CLMM `swap_v2` (u64 amount, u64 threshold, u128 price limit, bool base in; 13 accounts, then the bitmap extension and tick arrays): two
 * checked transfers and a `SwapEvent` in the logs. Source: raydium-clmm, `swap_v2.rs` and `states/pool.rs`.
 */
export const raydiumClmmVenue: Venue = {
  accounts: (coin) => poolVaults(coin, coin.key('pool')),
  table: (coin) =>
    lookupTableOf(coin, () => [
      CONFIG,
      MEMO,
      TOKEN_2022,
      ...['pool', 'vault-base', 'vault-quote', 'observation', 'bitmap', 'ticks-1', 'ticks-2'].map(
        (name) => coin.key(name),
      ),
    ]),
  plan(order) {
    const { coin, trader } = order
    const fill = fillOf(order, FEE_BPS)
    const { from, to, vaultIn, vaultOut, mintIn, mintOut } = direction(order)
    const [given, got] = order.side === 'buy' ? [fill.quote, fill.base] : [fill.base, fill.quote]
    const accounts: AccountMeta[] = [
      signer(trader),
      readonly(CONFIG),
      writable(coin.key('pool')),
      writable(from),
      writable(to),
      writable(vaultIn),
      writable(vaultOut),
      writable(coin.key('observation')),
      readonly(TOKEN),
      readonly(TOKEN_2022),
      readonly(MEMO),
      readonly(mintIn.key),
      readonly(mintOut.key),
      writable(coin.key('bitmap')),
      writable(coin.key('ticks-1')),
      writable(coin.key('ticks-2')),
    ]
    const data = byteWriter(41)
      .hex('2b04ed0b1ac91e62')
      .u64(given)
      .u64((got * 99n) / 100n)
      .u128(0n)
      .bool(true)
      .done()
    const record = (tx: TransactionBuilder) =>
      tx.call(
        RAYDIUM_CLMM_PROGRAM,
        accounts,
        data,
        () => {
          tx.log('Instruction: SwapV2')
          if (order.refuse) refuse(tx, 'TooLittleOutputReceived', TOO_LITTLE_OUTPUT_RECEIVED)
          // Token 0 is the mint whose bytes come first.
          const zeroForOne = (order.side === 'sell') === isBaseFirst(coin)
          const [account0, account1] = zeroForOne ? [from, to] : [to, from]
          const [amount0, amount1] = zeroForOne ? [given, got] : [got, given]
          const price = isBaseFirst(coin)
            ? priceAt(coin, order.slot)
            : 1 / priceAt(coin, order.slot)
          const fee = feeOf(given, FEE_BPS)
          const event = byteWriter(256)
            .hex('40c6cde8260871e2')
            .key(coin.key('pool'))
            .key(trader)
            .key(account0)
            .key(account1)
            .u64(amount0)
            .u64(0)
            .u64(amount1)
            .u64(0)
            .bool(zeroForOne)
            .u128(sqrtPriceX64(price))
            .u128(BigInt(Math.round(coin.depth)))
            .i32(Math.floor(Math.log(price) / Math.log(1.0001)))
            .u64(zeroForOne ? fee : 0n)
            .u64(zeroForOne ? 0n : fee)
            .done()
          tx.logData(event)
          transferTokenChecked(tx, from, vaultIn, trader, given)
          transferTokenChecked(tx, vaultOut, to, coin.key('pool'), got)
        },
        40_000,
      )
    return { program: RAYDIUM_CLMM_PROGRAM, accounts, fill, record }
  },
}
