import { z } from 'zod'
import { aliasOf } from '../../pipeline/domain/alias.ts'
import type { Facts } from '../../pipeline/store/tables/mints.ts'
import { componentSchema } from './component-schema.ts'
import { alias, count, mint } from './fields.ts'

/** How a text matches a hit: best first. */
export const MATCHES = ['exact', 'prefix', 'word'] as const
export type Match = (typeof MATCHES)[number]

/** A token that a search has found. */
export interface FoundToken extends Pick<Facts, 'symbol' | 'name'> {
  readonly mint: string
  readonly match: Match
  /** Tracked wallets that hold it, counting swaps only. */
  readonly holders: number
}

/** A wallet or a token that a search has found (rule L17). */
export const SearchHit = componentSchema('SearchHit', 'A tracked wallet or a token.', {
  kind: z.enum(['wallet', 'token']),
  match: z.enum(MATCHES).meta({
    description:
      '`exact`: the alias, the address or the symbol; `prefix`: the alias or symbol begins with the text; `word`: the name has all of its words',
  }),
  wallet: alias.nullable().describe('Alias of the wallet; null for a token'),
  token: componentSchema('NamedToken', 'A token by its address and what it calls itself.', {
    address: mint,
    symbol: z.string().nullable().describe('Null while it is not known'),
    name: z.string().nullable().describe('Null while it is not known'),
  })
    .nullable()
    .describe('Null for a wallet'),
  holders: count
    .nullable()
    .describe('Tracked wallets that hold the token, counting swaps only; null for a wallet'),
})
export type SearchHit = z.infer<typeof SearchHit>

/** Renders a wallet. */
export function walletHit(wallet: number, match: 'exact' | 'prefix'): SearchHit {
  return { kind: 'wallet', match, wallet: aliasOf(wallet), token: null, holders: null }
}

/** Renders a token. */
export function tokenHit({ mint, symbol, name, match, holders }: FoundToken): SearchHit {
  const token = { address: mint, symbol: symbol || null, name: name || null }
  return { kind: 'token', match, wallet: null, token, holders }
}
