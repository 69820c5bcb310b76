import { z } from 'zod'
import { type Address, parseAddress } from '../../pipeline/domain/address.ts'
import { parseAlias } from '../../pipeline/domain/alias.ts'
import type { EventKey } from '../../pipeline/domain/event-key.ts'
import type { CursorCodec, CursorScope } from '../cursor.ts'
import { ApiError } from '../errors.ts'

/** A path or query without parameters. */
export const NONE = z.object({})

/** An integer of digits alone, within bounds (rule D2); `fallback` when it is not given. */
export function integer(min: number, max: number, fallback: number) {
  return digits(min, max).default(fallback)
}

/** The same; null when it is not given. */
export function optionalInteger(min: number, max: number) {
  return digits(min, max)
    .optional()
    .transform((value) => value ?? null)
    .meta({ type: 'integer', minimum: min, maximum: max })
}

function digits(min: number, max: number) {
  const error = `expected an integer from ${min} to ${max}`
  return z
    .string({ error: 'expected one value' })
    .regex(/^[0-9]{1,10}$/, { error, abort: true })
    .transform(Number)
    .pipe(z.int().min(min, { error }).max(max, { error }))
}

/** One of several words; `fallback` when it is not given. */
export function choice<const Word extends string>(words: readonly Word[], fallback: Word) {
  const error = `expected ${words.map((word) => `\`${word}\``).join(' or ')}`
  return z.enum(words, { error }).default(fallback)
}

/** The `next_cursor` of an earlier answer, still as text; null when it is not given. Whoever knows its scope reads it by `readCursor`. */
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
      'The `next_cursor` of the previous answer. Opaque; anything else is `invalid_cursor`.',
  })

/** The position of a cursor of one scope (rule D4); null when none was given, an issue for what is no cursor. */
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

/** The refusal of a cursor whose scope only the handler knows. */
export function invalidCursor(): ApiError {
  const { message } = NO_CURSOR
  return new ApiError('invalid_cursor', { errors: [{ in: 'query', name: 'cursor', message }] })
}

/** The largest integer that a parameter takes where nothing else bounds it. */
export const LARGEST = 9_999_999_999

/** A page of a list, from 1. */
export const page = integer(1, 10_000, 1).meta({
  description: 'Page of the list, from 1; a page past the end has no items',
})

/** The wallet that a body names. */
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

/** A mint of the path. */
export const mintParameter = addressText('a token address').meta({
  type: 'string',
  format: 'solana-address',
  description: 'Token address, base58 of 32 bytes',
  examples: ['DezXAZ8z7PnrnRJjz3wXBoRgixCa6xjnB7YaB1pPB263'],
})

/** An alias of the path; what is no alias of a tracked wallet is told by `trackedWallet`. */
export const aliasParameter = z
  .string()
  .meta({ description: 'Alias of a tracked wallet', examples: ['W1'] })

/** The wallet's number; rejects with `wallet_not_found` what is no alias of a tracked wallet (rule D2). */
export function trackedWallet(alias: string, walletCount: number): number {
  const wallet = parseAlias(alias)
  if (wallet === null || wallet > walletCount) throw new ApiError('wallet_not_found')
  return wallet
}
