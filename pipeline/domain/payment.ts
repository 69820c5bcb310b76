import type { Address } from './address.ts'

/** Purposes of a payment to the service. Each has its own address. */
export const PURPOSES = ['pro', 'credits'] as const
/** One of `PURPOSES`. */
export type Purpose = (typeof PURPOSES)[number]

/**
 * The payment mint, and the owner of the receiving token accounts for each purpose. All addresses
 * differ (rule E5).
 */
export interface PaymentAddresses extends Readonly<Record<Purpose, Address>> {
  readonly mint: Address
}

/** Decimals of USDT: a raw unit is 10^-6. */
export const USDT_DECIMALS = 6
