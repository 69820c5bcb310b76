import { z } from 'zod'
import { type Address, parseAddress } from '../../pipeline/domain/address.ts'
import { parseAlias } from '../../pipeline/domain/alias.ts'
import type { EventKey } from '../../pipeline/domain/event-key.ts'
import type { CursorCodec, CursorScope } from '../cursor.ts'
import { ApiError } from '../errors.ts'

/** An integer within bounds, digits only (rule D2); `fallback` if absent. */
export function integer(min: number, max: number, fallback: number) {
  return digits(min, max).default(fallback)
}

/** An optional integer within bounds; null if absent. `expected`: its name in a refusal. */
export function optionalInteger(min: number, max: number, expected = 'an integer') {
  return digits(min, max, expected)
    .optional()
    .transform((value) => value ?? null)
    .meta({ type: 'integer', minimum: min, maximum: max })
}

function digits(min: number, max: number, expected = 'an integer') {
  const error = `expected ${expected} from ${min} to ${max}`
  return z
    .string({ error: 'expected one value' })
    .regex(/^[0-9]{1,10}$/, { error, abort: true })
    .transform(Number)
    .pipe(z.int().min(min, { error }).max(max, { error }))
}

/** Schema of a parameter that is one of `words`; `fallback` if absent. */
export function choice<const Word extends string>(words: readonly Word[], fallback: Word) {
  return oneOf(words).default(fallback)
}

/** Schema of an optional parameter that is one of `words`; null if absent. */
export function optionalChoice<const Word extends string>(words: readonly Word[]) {
  return oneOf(words)
    .optional()
    .transform((word) => word ?? null)
    .meta({ type: 'string', enum: [...words] })
}

function oneOf<const Word extends string>(words: readonly Word[]) {
  const error = `expected ${words.map((word) => `\`${word}\``).join(' or ')}`
  return z.enum(words, { error })
}

/** A time in unix seconds within 2020 to 2099; null if absent (rule L1). */
export const optionalTime = optionalInteger(
  1_577_836_800,
  4_102_444_799,
  'unix seconds (not milliseconds)',
)

/** Adds an issue unless the time `to` is after `from`. */
export function requireOrder(
  { from, to }: { readonly from: number | null; readonly to: number | null },
  context: z.RefinementCtx,
): void {
  if (from === null || to === null || from < to) return
  context.addIssue({ code: 'custom', path: ['query', 'to'], message: 'expected a time after from' })
}

/** The `next_cursor` of an earlier response as text, null if absent. `readCursor` decodes it. */
export const cursorText = z
  .unknown()
  .transform((text, context): string | null => {
    if (text === undefined) return null
    if (typeof text === 'string') return text
    context.addIssue(NO_CURSOR)
    return z.NEVER
  })
  .optional()
  .transform((text) => text ?? null)
  .meta({
    type: 'string',
    format: 'cursor',
    description:
      'The `next_cursor` of the previous answer. Opaque; any other text is `invalid_cursor`.',
  })

/** Decodes a cursor of a scope (rule D4). Null stays null; an invalid cursor adds an issue. */
export function readCursor(
  cursors: CursorCodec,
  scope: CursorScope,
  text: string | null,
  context: z.RefinementCtx,
): EventKey | null {
  if (text === null) return null
  const key = cursors.decode(scope, text)
  if (key === null) context.addIssue({ ...NO_CURSOR, path: ['query', 'cursor'] })
  return key
}

const NO_CURSOR = {
  code: 'custom',
  params: { code: 'invalid_cursor' },
  message: 'expected the next_cursor of a previous answer',
} as const

/** Returns the refusal of a cursor whose scope only the handler knows. */
export function invalidCursor(): ApiError {
  const { message } = NO_CURSOR
  return new ApiError('invalid_cursor', { errors: [{ in: 'query', name: 'cursor', message }] })
}

/** The largest value of an integer parameter without another bound. */
export const LARGEST = 9_999_999_999

/** The page number of a list, from 1. */
export const page = integer(1, 10_000, 1).meta({
  description: 'Page of the list, from 1; a page past the end has no items',
})

/** A wallet address in a request body. */
export const walletMember = addressText('a wallet address').meta({
  type: 'string',
  format: 'solana-address',
  description: 'Address of the wallet, base58 of 32 bytes',
})

function addressText(what: string) {
  return z.string().transform((text, context): Address => {
    const address = parseAddress(text)
    if (address !== null) return address
    context.addIssue({ code: 'custom', message: `expected ${what}, base58 of 32 bytes` })
    return z.NEVER
  })
}

/** A mint in the path. */
export const mintParameter = addressText('a token address').meta({
  type: 'string',
  format: 'solana-address',
  description: 'Token address, base58 of 32 bytes',
  examples: ['DezXAZ8z7PnrnRJjz3wXBoRgixCa6xjnB7YaB1pPB263'],
})

/** An optional mint in the query; null if absent. */
export const optionalMint = addressText('a token address')
  .optional()
  .transform((mint) => mint ?? null)
  .meta({ type: 'string', format: 'solana-address' })

/** An optional alias in the query; null if absent. `trackedWallet` refuses unknown aliases. */
export const optionalAlias = z
  .string({ error: 'expected one value' })
  .min(1, { error: 'expected an alias' })
  .optional()
  .transform((alias) => alias ?? null)
  .meta({ type: 'string', minLength: 1, examples: ['W1'] })

const SEARCH_TEXT = 'expected 1 to 64 characters, none of them a control character'

/** A text to search for, without spaces around it. */
export const searchText = z
  .string({ error: SEARCH_TEXT })
  .regex(/^\P{Cc}{1,64}$/u, { error: SEARCH_TEXT })
  .transform((text) => text.trim())
  .meta({
    type: 'string',
    format: 'search-text',
    minLength: 1,
    maxLength: 64,
    description:
      'An alias, or the address, the beginning of the symbol, or words of the name of a token',
    examples: ['bonk'],
  })

/** An alias in the path. `trackedWallet` refuses unknown aliases. */
export const aliasParameter = z
  .string()
  .meta({ description: 'Alias of a tracked wallet', examples: ['W1'] })

/** Returns the wallet's number. Throws `wallet_not_found` for an unknown alias (rule D2). */
export function trackedWallet(alias: string, walletCount: number): number {
  const wallet = parseAlias(alias)
  if (wallet === null || wallet > walletCount)
    throw new ApiError('wallet_not_found', {
      title: `No tracked wallet has this alias. ${walletCount === 0 ? 'None is tracked yet.' : `The aliases are W1 to W${walletCount}.`}`,
    })
  return wallet
}
