import type { SubscribeUpdateAccount } from '@triton-one/yellowstone-grpc'
import { byteWriter } from './byte-writer.ts'
import { wellKnown } from './key.ts'
import type { Coin } from './universe.ts'
import { pairOf, sqrtPriceX64, tickOf } from './venues/pool.ts'

/** Orca's Whirlpool program. */
export const WHIRLPOOL_PROGRAM = wellKnown('whirLbMiicVdio4qvUfM5KAg6Ct8VwpYzGff3uctyCc')
const CONFIG = wellKnown('2LecshUwdy9xi7meFgHtFJQNSKk4KdTrcpvaB56dP2NQ')

/**
 * The data of a `Whirlpool` account, 653 bytes: 0 discriminator, 8 config, 40 bump, 41 u16 tick
 * spacing, 43 u8 x 2 seed, 45 u16 fee rate, 47 u16 protocol fee rate, 49 u128 liquidity, 65 u128
 * sqrt price, 81 i32 tick, 85 u64 owed a, 93 u64 owed b, 101 mint a, 133 vault a, 165 u128 fee
 * growth a, 181 mint b, 213 vault b, 245 u128 fee growth b, 261 u64 rewards updated, 269 rewards
 * 3 x 128. Source: the program's IDL.
 */
export function whirlpoolData(pool: Coin, slot: number, time: number): Buffer {
  const { a, b, price } = pairOf(pool, slot)
  return byteWriter(653)
    .hex('3f95d10ce1806309')
    .key(CONFIG)
    .u8(255)
    .u16(4)
    .u8(4, 0)
    .u16(400, 1_300)
    .u128(BigInt(Math.round(pool.depth)) * 1_000n, sqrtPriceX64(price))
    .i32(tickOf(price))
    .u64(0, 0)
    .key(a.mint.key, a.vault)
    .u128(0n)
    .key(b.mint.key, b.vault)
    .u128(0n)
    .u64(time)
    .zeros(384)
    .done()
}

/** The update of the price account at a slot. */
export function priceAccountUpdate(pool: Coin, slot: number, time: number): SubscribeUpdateAccount {
  return {
    account: {
      pubkey: pool.key('pool').bytes,
      lamports: '5435760',
      owner: WHIRLPOOL_PROGRAM.bytes,
      executable: false,
      rentEpoch: '18446744073709551615',
      data: whirlpoolData(pool, slot, time),
      writeVersion: String(slot),
      txnSignature: undefined,
    },
    slot: String(slot),
    isStartup: false,
  }
}
