import { createHmac } from 'node:crypto'
import type { EventKey } from './event-key.ts'

/** By how much the served picture of one swap differs from the true one. */
export interface Perturbation {
  /** Amounts are served times this, in millionths: 900000 to 1100000, base and quote alike. */
  readonly factorPpm: bigint
  /** Times are served earlier by this: 3 to 16 seconds. */
  readonly earlierSeconds: number
}

/** Gives the perturbation of a swap. */
export type Perturb = (key: EventKey) => Perturbation

/**
 * Perturbs by a function of the event key that only the holder of `PRIVACY_SALT` can compute, the same on every read, on every channel and in every
 * process (rule I2). Null without a salt: what is served is what happened. A live trade is served within the second and never with a time in
 * the future, and what was served once stays: so times only ever move back.
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
      earlierSeconds: 3 + (noise.readUIntLE(6, 6) % 14),
    }
  }
}

/** Tells one salt from another without telling it: 0 without one, else 24 bits above zero. */
export function saltMark(salt: string | null): number {
  if (salt === null) return 0
  return 1 + (createHmac('sha256', salt).update('mark').digest().readUIntLE(0, 3) % 0xff_ffff)
}

/** An amount, or a value, as it is served: rounded down, and at least 1 when there was any. */
export function perturbAmount(amount: bigint, { factorPpm }: Perturbation): bigint {
  const served = (amount * factorPpm) / 1_000_000n
  return served === 0n && amount > 0n ? 1n : served
}

declare const served: unique symbol

/** A swap with the amounts and the time that customers may see. Only `serveSwap` returns one. */
export type ServedSwap<T> = T & { readonly [served]: true }

/**
 * Applies the privacy filter to a swap (rule I2). Without a salt amounts and time stay as they are.
 */
export function serveSwap<
  T extends EventKey & {
    readonly blockTime: number
    readonly baseAmount: bigint
    readonly quoteAmount: bigint
  },
>(swap: T, perturb: Perturb | null): ServedSwap<T> {
  if (perturb === null) return swap as ServedSwap<T> // nothing is filtered
  const perturbation = perturb(swap)
  return {
    ...swap,
    blockTime: swap.blockTime - perturbation.earlierSeconds,
    baseAmount: perturbAmount(swap.baseAmount, perturbation),
    quoteAmount: perturbAmount(swap.quoteAmount, perturbation),
  } as ServedSwap<T> // filtered
}
