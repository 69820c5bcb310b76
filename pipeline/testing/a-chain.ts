import bs58 from 'bs58'
import { addressFromBytes } from '../domain/address.ts'
import type { WalletEvent } from '../domain/event.ts'
import { USDC, WSOL } from '../domain/quote.ts'
import type { SlotRecords, WalletRecord } from '../domain/slot.ts'

/**
 * Records that arrive after their slot was sealed, once `afterSlots` slots of the chain have
 * passed.
 */
export interface LateRecords {
  readonly afterSlots: number
  readonly records: readonly WalletRecord[]
}

/** Sealed slots of a chain, and records that arrive late. */
export interface RecordChain {
  readonly slots: readonly SlotRecords[]
  readonly late: readonly LateRecords[]
}

/**
 * Returns a random chain of some wallets over some slots: swaps with and without a value,
 * transfers, links, undecoded transactions, kept bytes, empty slots and skipped slot numbers.
 * `lateShare` is the share of transactions whose records arrive late. The same seed gives the same
 * chain.
 */
export function aChain(options: {
  seed: number
  slots: number
  wallets: number
  lateShare?: number
}): RecordChain {
  const random = randomOf(options.seed)
  const pick = <T>(values: readonly T[]): T => values[random(values.length)] as T // never empty
  const mints = [1, 2, 3, 4].map((n) => addressFromBytes(new Uint8Array(32).fill(n)))
  const slots: SlotRecords[] = []
  const late: LateRecords[] = []
  let slot = 1000
  let blockTime = 1_700_000_000
  let priceTime = 0
  for (let at = 0; at < options.slots; at += 1) {
    const parent = slot
    slot += 1 + Number(random(5) === 0)
    blockTime += random(12)
    const records: WalletRecord[] = []
    const lateRecords: WalletRecord[] = []
    for (let txIndex = 0; txIndex < random(4); txIndex += 1) {
      const target = random(100) < (options.lateShare ?? 0) * 100 ? lateRecords : records
      const wallets = new Set([1 + random(options.wallets), 1 + random(options.wallets)])
      for (const wallet of [...wallets].sort((a, b) => a - b)) {
        const recordFields = { slot, txIndex, wallet, blockTime }
        const signature = bs58.encode(new Uint8Array(64).fill((slot * 7 + txIndex) % 251))
        const count = random(4)
        for (let eventIndex = 0; eventIndex < count; eventIndex += 1) {
          const event = { ...recordFields, eventIndex, signature }
          const amount = BigInt(1 + random(1_000_000))
          target.push(
            pick<() => WalletEvent>([
              ...['buy', 'buy', 'sell', 'sell'].map((side) => () => {
                const inUsd = random(3) === 0
                const mismatch = random(8) === 0
                return {
                  kind: 'swap' as const,
                  ...event,
                  side: side as 'buy' | 'sell', // one of the four above
                  baseMint: pick(mints),
                  baseAmount: amount,
                  baseDecimals: 6,
                  quoteMint: mismatch ? null : inUsd ? USDC : WSOL,
                  quoteAmount: mismatch ? 0n : BigInt(random(2_000_000_000)),
                  program: 'pumpswap',
                  programId: mints[0]!,
                  pool: mints[1] ?? null,
                  confidence: 'high' as const,
                  quoteMismatch: mismatch,
                  feeLamports: BigInt(random(3)),
                  solPriceUsdE9: !mismatch && random(3) > 0 ? 150_000_000_001n : null,
                }
              }),
              () => ({
                kind: 'token_transfer',
                ...event,
                direction: pick(['in', 'out']),
                mint: pick(mints),
                amount,
                decimals: 6,
              }),
              () => ({
                kind: 'sol_transfer',
                ...event,
                direction: pick(['in', 'out']),
                lamports: amount,
              }),
            ])(),
          )
        }
        const lamports = BigInt(random(2_000_000_000)) * 30n
        target.push({
          kind: 'balance',
          ...recordFields,
          lamports,
          lamportsBefore: lamports + 5_000n,
        })
        if (txIndex % 2 === 0) {
          const link = { account: mints[2]!, mint: mints[3]!, before: 0n, after: lamports }
          target.push({ kind: 'token_link', ...recordFields, ...link })
        }
        if (random(15) === 0)
          target.push({
            kind: 'undecoded',
            ...recordFields,
            signature,
            programId: null,
            reason: 'truncated',
          })
      }
      const first = target.find(
        (r) =>
          r.txIndex === txIndex &&
          r.slot === slot &&
          r.kind !== 'balance' &&
          r.kind !== 'token_link',
      )
      if (first)
        target.push({
          kind: 'kept',
          slot,
          txIndex,
          wallet: first.wallet,
          blockTime,
          signature: bs58.encode(new Uint8Array(64).fill((slot * 7 + txIndex) % 251)),
          format: 1,
          bytes: new TextEncoder().encode(`${slot}/${txIndex}`),
        })
    }
    priceTime = Math.max(priceTime, blockTime - random(2))
    const solPrice =
      at < 2 ? null : { time: priceTime, usdE9: 150_000_000_000n + BigInt(priceTime) }
    slots.push({
      marker: { slot, parent, blockTime, solPrice, blockId: BigInt(slot), finalized: slot - 32 },
      records,
    })
    if (lateRecords.length > 0) late.push({ afterSlots: at + 1 + random(5), records: lateRecords })
  }
  return { slots, late }
}

/** Random integers below a bound, by a 32-bit xorshift of the seed. */
function randomOf(seed: number): (below: number) => number {
  let state = seed * 2 + 1
  return (below) => {
    state ^= state << 13
    state ^= state >>> 17
    state ^= state << 5
    return (state >>> 0) % below
  }
}
