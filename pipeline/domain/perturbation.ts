import { createHmac } from 'node:crypto'
import type { EventKey } from './event-key.ts'

/** Difference between the served form of a swap and the true one. */
export interface Perturbation {
  /** Factor of base and quote amounts, in millionths: 900000 to 1100000. */
  readonly factorPpm: bigint
  /** Seconds by which times are served earlier: 3 to 16. */
  readonly earlierSeconds: number
}

/** Served times are at most this many seconds before the true ones. */
export const MOST_EARLIER_SECONDS = 16

/** Returns the perturbation of a swap. */
export type Perturb = (key: EventKey) => Perturbation

/**
 * Returns a keyed function of the event key, so the perturbation is the same on every read, channel
 * and process (rule I2). Null without a salt: events are then served as they happened.
 *
 * Times only move back. A live trade is served within a second, must not lie in the future, and
 * never changes once served.
 */
export function createPerturb(salt: string | null): Perturb | null {
  if (salt === null) return null
  return ({ slot, txIndex, wallet, eventIndex }) => {
    const key = Buffer.allocUnsafe(20)
    key.writeBigUInt64LE(BigInt(slot), 0)
    key.writeUInt32LE(txIndex, 8)
    key.writeUInt32LE(wallet, 12)
    key.writeUInt32LE(eventIndex, 16)
    const noise = createHmac('sha256', salt).update(key).digest()
    return {
      factorPpm: BigInt(900_000 + (noise.readUIntLE(0, 6) % 200_001)),
      earlierSeconds: 3 + (noise.readUIntLE(6, 6) % (MOST_EARLIER_SECONDS - 2)),
    }
  }
}

/**
 * Returns a fingerprint of the salt that does not reveal it: 0 without a salt, else 24 bits above
 * zero.
 */
export function saltFingerprint(salt: string | null): number {
  if (salt === null) return 0
  return 1 + (createHmac('sha256', salt).update('mark').digest().readUIntLE(0, 3) % 0xff_ffff)
}

/**
 * Returns the served amount or value: rounded down, and at least 1 if the true amount is above
 * zero.
 */
export function perturbAmount(amount: bigint, { factorPpm }: Perturbation): bigint {
  const served = (amount * factorPpm) / 1_000_000n
  return served === 0n && amount > 0n ? 1n : served
}

declare const served: unique symbol

/** A swap with the amounts and the time that customers may see. Only `serveSwap` returns one. */
export type ServedSwap<T> = T & { readonly [served]: true }

/**
 * Applies the privacy filter to a swap (rule I2). Without a salt, returns the same object.
 */
export function serveSwap<
  T extends EventKey & {
    readonly blockTime: number
    readonly baseAmount: bigint
    readonly quoteAmount: bigint
    readonly valueLamports?: bigint | null
  },
>(swap: T, perturb: Perturb | null): ServedSwap<T> {
  if (perturb === null) return swap as ServedSwap<T> // nothing is filtered
  const perturbation = perturb(swap)
  const { valueLamports } = swap
  return {
    ...swap,
    ...(valueLamports && { valueLamports: perturbAmount(valueLamports, perturbation) }),
    blockTime: swap.blockTime - perturbation.earlierSeconds,
    baseAmount: perturbAmount(swap.baseAmount, perturbation),
    quoteAmount: perturbAmount(swap.quoteAmount, perturbation),
  } as ServedSwap<T> // filtered
}
