import { type Address, address } from './address.ts'

/** Wrapped SOL. Native SOL counts as WSOL (rules of section A). */
export const WSOL = address('So11111111111111111111111111111111111111112')
/** Circle's USD coin on mainnet, 6 decimals. */
export const USDC = address('EPjFWdd5AufqSSqeM2qN1xzybapC8G4wEGGkZwyTDt1v')
/** Tether's USD coin on mainnet, 6 decimals. */
export const USDT = address('Es9vMFrzaCERmJfrF4H2FYD4KCoNkY11McCe8BenwNYB')

/** The quote coins, in the order that breaks ties (rule B7). */
export const QUOTE_MINTS: readonly Address[] = [WSOL, USDC, USDT]

/** Whether the mint is one of WSOL, USDC, USDT; every other mint is a base. */
export function isQuoteMint(mint: string): boolean {
  return mint === WSOL || isDollar(mint)
}

/** Whether the mint is a coin that is worth a dollar. */
export function isDollar(mint: string | null): boolean {
  return mint === USDC || mint === USDT
}
