import { z } from 'zod'

/*
 * Kinds of values in items. Each field adds its own meaning: `rawAmount.meta({ description })`.
 */

/** The public name of a tracked wallet. */
export const alias = z
  .string()
  .regex(/^W[1-9][0-9]*$/)
  .meta({ description: 'Alias of a tracked wallet', examples: ['W12'] })

/** A mint's address, base58 of 32 bytes. */
export const mint = z
  .string()
  .regex(/^[1-9A-HJ-NP-Za-km-z]{32,44}$/)
  .meta({
    description: 'Token address',
    examples: ['DezXAZ8z7PnrnRJjz3wXBoRgixCa6xjnB7YaB1pPB263'],
  })

/** An amount in smallest units, 0 or more, as a decimal string of any length. */
export const rawAmount = z
  .string()
  .regex(/^(0|[1-9][0-9]*)$/)
  .meta({ description: 'Raw amount', examples: ['123456789'] })

/** Like `rawAmount`, but possibly negative. */
export const signedRawAmount = z
  .string()
  .regex(/^(0|-?[1-9][0-9]*)$/)
  .meta({ description: 'Raw amount, possibly negative', examples: ['-5'] })

export const decimals = z.int().min(0).max(255).describe('Decimals of the token')

export const side = z.enum(['buy', 'sell']).describe('Whether the wallet bought or sold the token')

export const program = z.string().meta({
  description: 'DEX, launchpad or router of the swap; `unknown` if not known',
  examples: ['pumpswap'],
})

export const count = z.int().min(0)

/** Unix seconds. */
export const time = z
  .int()
  .min(0)
  .meta({ examples: [1790000000] })

/** A span in seconds. */
export const seconds = z.int().min(0)

/** A figure in SOL: the double nearest to the exact one. */
export const sol = z.number()

/** What a swap is worth, and what one whole token is then worth (rule L3). */
export const swapValue = {
  sol_value: sol
    .min(0)
    .nullable()
    .meta({
      description: 'What the quote is worth in SOL; null while it has no value',
      examples: [1.5],
    }),
  price_sol: sol
    .min(0)
    .nullable()
    .meta({
      description: 'SOL for one whole token, by `sol_value`; null without it',
      examples: [0.00000122],
    }),
  symbol: z
    .string()
    .nullable()
    .meta({
      description: 'Symbol of the token as its creator chose it; null while it is not known',
      examples: ['Bonk'],
    }),
}

/** An amount of tokens divided by 10^decimals: the double nearest to the exact one. */
export const tokens = z.number().min(0)

/**
 * The fraction of bought tokens that is still held: 0 when nothing was bought, and never negative.
 */
export const heldFraction = z.number().min(0).max(1)

export const hasMore = z.boolean().describe('Whether there is another page')

/** The cursor of the next page, in a list that is paged by cursor. */
export const nextCursor = z.string().nullable().meta({
  description: 'Pass it as `cursor` for the next, older page; null on the last page',
})
