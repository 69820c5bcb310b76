import { byteWriter } from '../byte-writer.ts'
import { wellKnown } from '../key.ts'
import { transferTokenChecked } from '../native.ts'
import { MEMO } from '../programs.ts'
import {
  type AccountMeta,
  readonly,
  type TransactionBuilder,
  writable,
  writableSigner,
} from '../transaction-builder.ts'
import { priceAt } from '../universe.ts'
import { direction, feeOf, fillOf, lookupTableOf, poolVaults, type Venue } from './pool.ts'
import { emitEvent, refuse } from './pumpfun.ts'

/** Meteora DLMM. */
export const METEORA_DLMM_PROGRAM = wellKnown('LBUZKhRxPF3XUpBCjp4YzTKgLccjZhTSDM9YuVaPwxo')
const EVENT_AUTHORITY = wellKnown('D1ZN9Wj1fRSUQfCjhvnu1hqDMT7hzjzBBpi12nVniYD6')
const FEE_BPS = 20n
const EXCEEDED_AMOUNT_SLIPPAGE_TOLERANCE = 6_003

/**
 * Meteora DLMM `swap` (u64 in, u64 least out; 15 accounts and the bin arrays) and `swap2` (the same with the remaining-accounts info and the memo
 * program): two checked transfers, then a `Swap` event that the program calls on itself. Source: the program's IDL.
 */
export const meteoraDlmmVenue: Venue = {
  accounts: (coin) => poolVaults(coin, coin.key('pool')),
  table: (coin) =>
    lookupTableOf(coin, () => [
      EVENT_AUTHORITY,
      METEORA_DLMM_PROGRAM,
      MEMO,
      ...['pool', 'vault-base', 'vault-quote', 'oracle', 'bins-1', 'bins-2'].map((name) =>
        coin.key(name),
      ),
    ]),
  plan(order) {
    const { coin, trader, slot } = order
    const second = slot % 2 === 0
    const fill = fillOf(order, FEE_BPS)
    const { from, to, vaultIn, vaultOut } = direction(order)
    const [given, got] = order.side === 'buy' ? [fill.quote, fill.base] : [fill.base, fill.quote]
    const accounts: AccountMeta[] = [
      writable(coin.key('pool')),
      // The program's own id stands for the missing bitmap extension and host fee.
      readonly(METEORA_DLMM_PROGRAM),
      writable(coin.key('vault-base')),
      writable(coin.key('vault-quote')),
      writable(from),
      writable(to),
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
    const least = (got * 99n) / 100n
    const data = second
      ? byteWriter(28).hex('414b3f4ceb5b5b88').u64(given).u64(least).u32(0)
      : byteWriter(24).hex('f8c69e91e17587c8').u64(given).u64(least)
    const record = (tx: TransactionBuilder) =>
      tx.call(
        METEORA_DLMM_PROGRAM,
        accounts,
        data.done(),
        () => {
          tx.log(`Instruction: ${second ? 'Swap2' : 'Swap'}`)
          if (order.refuse) {
            refuse(tx, 'ExceededAmountSlippageTolerance', EXCEEDED_AMOUNT_SLIPPAGE_TOLERANCE)
          }
          transferTokenChecked(tx, from, vaultIn, trader, given)
          transferTokenChecked(tx, vaultOut, to, coin.key('pool'), got)
          const fee = feeOf(given, FEE_BPS)
          const bin = Math.floor(Math.log(priceAt(coin, slot)) / Math.log(1.002))
          const event = byteWriter(137)
            .hex('516ce3becdd00ac4')
            .key(coin.key('pool'))
            .key(trader)
            .i32(bin)
            .i32(bin)
            .u64(given)
            .u64(got)
            .bool(order.side === 'sell')
            .u64(fee)
            .u64(fee / 20n)
            .u128(FEE_BPS * 100_000n)
            .u64(0)
            .done()
          emitEvent(tx, METEORA_DLMM_PROGRAM, EVENT_AUTHORITY, event, false)
        },
        36_000,
      )
    return { program: METEORA_DLMM_PROGRAM, accounts, fill, record }
  },
}
