import type { SubscribeUpdateAccount } from '@triton-one/yellowstone-grpc'
import { byteWriter } from './byte-writer.ts'
import { wellKnown } from './key.ts'
import type { Coin } from './universe.ts'
import { priceAt } from './universe.ts'

/** Orca's Whirlpool program. */
export const WHIRLPOOL_PROGRAM = wellKnown('whirLbMiicVdio4qvUfM5KAg6Ct8VwpYzGff3uctyCc')
const CONFIG = wellKnown('2LecshUwdy9xi7meFgHtFJQNSKk4KdTrcpvaB56dP2NQ')

/** Square root of the raw price (B for A) times 2^64, as Whirlpool stores it. */
export function sqrtPriceX64(price: number): bigint {
  return (BigInt(Math.round(Math.sqrt(price) * 2 ** 52)) << 64n) >> 52n
}

/**
 * The data of a `Whirlpool` account, 653 bytes: 0 discriminator, 8 config, 40 bump, 41 u16 tick spacing, 43 u8 x 2 seed, 45 u16 fee rate, 47 u16
 * protocol fee rate, 49 u128 liquidity, 65 u128 sqrt price, 81 i32 tick, 85 u64 owed a, 93 u64 owed b, 101 mint a, 133 vault a, 165 u128 fee
 * growth a, 181 mint b, 213 vault b, 245 u128 fee growth b, 261 u64 rewards updated, 269 rewards 3 x 128. Source: the program's IDL.
 */
export function whirlpoolData(pool: Coin, slot: number, time: number): Buffer {
  // Mint A is the one whose bytes come first; the price is B for A.
  const first = Buffer.compare(pool.mint.key.bytes, pool.quote.key.bytes) < 0
  const price = first ? priceAt(pool, slot) : 1 / priceAt(pool, slot)
  const sides = [
    { mint: pool.mint.key, vault: pool.key('vault-base') },
    { mint: pool.quote.key, vault: pool.key('vault-quote') },
  ]
  const [a, b] = first ? sides : sides.reverse()
  return byteWriter(653)
    .hex('3f95d10ce1806309')
    .key(CONFIG)
    .u8(255)
    .u16(4)
    .raw(Uint8Array.of(4, 0))
    .u16(400)
    .u16(1_300)
    .u128(BigInt(Math.round(pool.depth)) * 1_000n)
    .u128(sqrtPriceX64(price))
    .i32(Math.floor(Math.log(price) / Math.log(1.0001)))
    .u64(0)
    .u64(0)
    .key(a!.mint)
    .key(a!.vault)
    .u128(0n)
    .key(b!.mint)
    .key(b!.vault)
    .u128(0n)
    .u64(time)
    .raw(new Uint8Array(384))
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
