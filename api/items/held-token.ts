import { z } from 'zod'
import { aliasOf } from '../../pipeline/domain/alias.ts'
import { LAMPORTS_PER_SOL, nearestNumber } from '../../pipeline/domain/amount.ts'
import type { HeldTokenRow } from '../../pipeline/store/tables/positions.ts'
import { componentSchema } from './component-schema.ts'
import { alias, count, decimals, mint, sol, tokens } from './fields.ts'

/** A token by its address. */
export const Token = componentSchema('Token', 'A token.', { address: mint, decimals })

/** A token that tracked wallets hold, counting swaps only (contract 2.4, rule C14). */
export const HeldTokenItem = z
  .strictObject({
    token: Token,
    holders: z.strictObject({
      wallet_count: count.describe('Tracked wallets that hold the token now'),
      wallets: z.array(alias).describe('Aliases of these wallets, by number'),
    }),
    aggregate: z.strictObject({
      tokens_held: tokens.describe('Tokens held by these wallets together, divided by 10^decimals'),
      sol_invested: sol.describe('SOL that these wallets spent on the token'),
    }),
  })
  .meta({ id: 'HeldToken', description: 'A token held by several tracked wallets.' })
export type HeldTokenItem = z.infer<typeof HeldTokenItem>

/** Renders a held token; fields in the contract's order. */
export function heldTokenItem(row: HeldTokenRow): HeldTokenItem {
  return {
    token: { address: row.mint, decimals: row.decimals },
    holders: { wallet_count: row.wallets.length, wallets: row.wallets.map(aliasOf) },
    aggregate: {
      tokens_held: nearestNumber(BigInt(row.held_amount), 10n ** BigInt(row.decimals)),
      sol_invested: nearestNumber(BigInt(row.bought_lamports), LAMPORTS_PER_SOL),
    },
  }
}
