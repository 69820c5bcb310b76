/** Quote coins by mint, with the decimals of their raw amounts. */
export const QUOTE_COINS: Readonly<
  Record<string, { readonly name: string; readonly decimals: number }>
> = {
  So11111111111111111111111111111111111111112: { name: 'SOL', decimals: 9 },
  EPjFWdd5AufqSSqeM2qN1xzybapC8G4wEGGkZwyTDt1v: { name: 'USDC', decimals: 6 },
  Es9vMFrzaCERmJfrF4H2FYD4KCoNkY11McCe8BenwNYB: { name: 'USDT', decimals: 6 },
}
