import { byteWriter } from '../byte-writer.ts'
import { wellKnown } from '../key.ts'
import { transferTokenChecked } from '../native.ts'
import { MEMO } from '../programs.ts'
import { type AccountMeta, readonly, writable, writableSigner } from '../transaction-builder.ts'
import { priceAt } from '../universe.ts'
import { feeOf, lookupTable, poolVaults, sidesOf, type Venue } from './pool.ts'
import { emitEvent, refuse } from './pumpfun.ts'

/** Meteora DLMM. */
export const METEORA_DLMM_PROGRAM = wellKnown('LBUZKhRxPF3XUpBCjp4YzTKgLccjZhTSDM9YuVaPwxo')
const EVENT_AUTHORITY = wellKnown('D1ZN9Wj1fRSUQfCjhvnu1hqDMT7hzjzBBpi12nVniYD6')
const FEE_BPS = 20n
const EXCEEDED_AMOUNT_SLIPPAGE_TOLERANCE = 6_003

/**
 * Meteora DLMM `swap` (u64 in, u64 least out; 15 accounts and the bin arrays) and `swap2` (the same
 * with the remaining-accounts info and the memo program): two checked transfers, then a `Swap`
 * event that the program calls on itself. Source: the program's IDL.
 */
export const meteoraDlmmVenue: Venue = {
  accounts: (coin) => poolVaults(coin, coin.key('pool')),
  table: (coin) =>
    lookupTable(
      coin,
      [EVENT_AUTHORITY, METEORA_DLMM_PROGRAM, MEMO],
      ['pool', 'vault-base', 'vault-quote', 'oracle', 'bins-1', 'bins-2'],
    ),
  plan(order) {
    const { coin, trader, slot } = order
    const second = slot % 2 === 0
    const { fill, given, got, input, output } = sidesOf(order, FEE_BPS)
    const pool = coin.key('pool')
    const accounts: AccountMeta[] = [
      writable(pool),
      // The program's own id stands for the missing bitmap extension and host fee.
      readonly(METEORA_DLMM_PROGRAM),
      writable(coin.key('vault-base')),
      writable(coin.key('vault-quote')),
      writable(input.account),
      writable(output.account),
      readonly(coin.mint.key),
      readonly(coin.quote.key),
      writable(coin.key('oracle')),
      readonly(METEORA_DLMM_PROGRAM),
      writableSigner(trader),
      readonly(coin.mint.program),
      readonly(coin.quote.program),
      ...(second ? [readonly(MEMO)] : []),
      readonly(EVENT_AUTHORITY),
      readonly(METEORA_DLMM_PROGRAM),
      writable(coin.key('bins-1')),
      writable(coin.key('bins-2')),
    ]
    const data = byteWriter(28)
      .hex(second ? '414b3f4ceb5b5b88' : 'f8c69e91e17587c8')
      .u64(given, (got * 99n) / 100n)
    if (second) data.u32(0)
    return {
      program: METEORA_DLMM_PROGRAM,
      accounts,
      data: data.done(),
      fill,
      units: 36_000,
      run(tx) {
        tx.log(`Instruction: ${second ? 'Swap2' : 'Swap'}`)
        if (order.refuse)
          refuse(tx, 'ExceededAmountSlippageTolerance', EXCEEDED_AMOUNT_SLIPPAGE_TOLERANCE)
        transferTokenChecked(tx, input.account, input.vault, trader, given)
        transferTokenChecked(tx, output.vault, output.account, pool, got)
        const fee = feeOf(given, FEE_BPS)
        const bin = Math.floor(Math.log(priceAt(coin, slot)) / Math.log(1.002))
        const event = byteWriter(137)
          .hex('516ce3becdd00ac4')
          .key(pool, trader)
          .i32(bin, bin)
          .u64(given, got)
          .bool(order.side === 'sell')
          .u64(fee, fee / 20n)
          .u128(FEE_BPS * 100_000n)
          .u64(0)
          .done()
        emitEvent(tx, METEORA_DLMM_PROGRAM, EVENT_AUTHORITY, event, false)
      },
    }
  },
}
