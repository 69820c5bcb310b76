import { byteWriter } from '../byte-writer.ts'
import { wellKnown } from '../key.ts'
import { transferTokenChecked } from '../native.ts'
import { MEMO, TOKEN, TOKEN_2022 } from '../programs.ts'
import { type AccountMeta, readonly, signer, writable } from '../transaction-builder.ts'
import {
  feeOf,
  isBaseFirst,
  lookupTable,
  pairOf,
  poolVaults,
  sidesOf,
  sqrtPriceX64,
  tickOf,
  type Venue,
} from './pool.ts'
import { refuse } from './pumpfun.ts'

/** Raydium CLMM, concentrated liquidity. */
export const RAYDIUM_CLMM_PROGRAM = wellKnown('CAMMCzo5YL8w4VFF8KVHrK22GGUsp5VTaW7grrKgrWqK')
const CONFIG = wellKnown('9iFER3bpjf1PTTCQCfTRu17EJgvsxo9pVyA9QWwEuX4x')
const FEE_BPS = 25n
const TOO_LITTLE_OUTPUT_RECEIVED = 6_022

/**
 * Raydium CLMM `swap_v2` (u64 amount, u64 threshold, u128 price limit, bool base in; 13 accounts,
 * then the bitmap extension and tick arrays): two checked transfers and a `SwapEvent` in the logs.
 * Source: raydium-clmm, `swap_v2.rs` and `states/pool.rs`.
 */
export const raydiumClmmVenue: Venue = {
  accounts: (coin) => poolVaults(coin, coin.key('pool')),
  table: (coin) =>
    lookupTable(
      coin,
      [CONFIG, MEMO, TOKEN_2022],
      ['pool', 'vault-base', 'vault-quote', 'observation', 'bitmap', 'ticks-1', 'ticks-2'],
    ),
  plan(order) {
    const { coin, trader } = order
    const { fill, given, got, input, output } = sidesOf(order, FEE_BPS)
    const pool = coin.key('pool')
    const accounts: AccountMeta[] = [
      signer(trader),
      readonly(CONFIG),
      ...[pool, input.account, output.account, input.vault, output.vault].map(writable),
      writable(coin.key('observation')),
      ...[TOKEN, TOKEN_2022, MEMO, input.mint, output.mint].map(readonly),
      ...['bitmap', 'ticks-1', 'ticks-2'].map((name) => writable(coin.key(name))),
    ]
    const data = byteWriter(41)
      .hex('2b04ed0b1ac91e62')
      .u64(given, (got * 99n) / 100n)
      .u128(0n)
      .bool(true)
      .done()
    return {
      program: RAYDIUM_CLMM_PROGRAM,
      accounts,
      data,
      fill,
      units: 40_000,
      run(tx) {
        tx.log('Instruction: SwapV2')
        if (order.refuse) refuse(tx, 'TooLittleOutputReceived', TOO_LITTLE_OUTPUT_RECEIVED)
        // Token 0 is the mint whose bytes come first.
        const zeroForOne = (order.side === 'sell') === isBaseFirst(coin)
        const [account0, account1] = zeroForOne
          ? [input.account, output.account]
          : [output.account, input.account]
        const [amount0, amount1] = zeroForOne ? [given, got] : [got, given]
        const { price } = pairOf(coin, order.slot)
        const fee = feeOf(given, FEE_BPS)
        const event = byteWriter(256)
          .hex('40c6cde8260871e2')
          .key(pool, trader, account0, account1)
          .u64(amount0, 0, amount1, 0)
          .bool(zeroForOne)
          .u128(sqrtPriceX64(price), BigInt(Math.round(coin.depth)))
          .i32(tickOf(price))
          .u64(zeroForOne ? fee : 0n, zeroForOne ? 0n : fee)
          .done()
        tx.logData(event)
        transferTokenChecked(tx, input.account, input.vault, trader, given)
        transferTokenChecked(tx, output.vault, output.account, pool, got)
      },
    }
  },
}
