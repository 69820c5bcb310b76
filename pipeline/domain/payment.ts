import type { Address } from './address.ts'

/** What a payment to the service is for: each has an address of its own. */
export const PURPOSES = ['pro', 'credits'] as const
export type Purpose = (typeof PURPOSES)[number]

/** Where the service is paid, and in what: addresses that own token accounts of the mint. No two are the same (rule E5). */
export interface PaymentAddresses extends Readonly<Record<Purpose, Address>> {
  readonly mint: Address
}

/** Decimals of USDT: raw units are 10^-6. */
export const USDT_DECIMALS = 6
