import { z } from 'zod'
import type { EventKey } from '../../pipeline/domain/event-key.ts'
import type { CursorCodec, CursorScope } from '../cursor.ts'

/** A path or query without parameters. */
export const NONE = z.object({})

/** An integer of digits alone, within bounds (decisions D2); `fallback` when it is not given. */
export function integer(min: number, max: number, fallback: number) {
  return z
    .string({ error: 'expected one value' })
    .regex(/^[0-9]{1,10}$/, { error: `expected an integer from ${min} to ${max}`, abort: true })
    .transform(Number)
    .pipe(
      z
        .number()
        .min(min, { error: `expected an integer from ${min} to ${max}` })
        .max(max, { error: `expected an integer from ${min} to ${max}` }),
    )
    .default(fallback)
}

/** The `next_cursor` of an earlier answer of the same scope, as its position (decisions D4); null when it is not given. */
export function cursor(cursors: CursorCodec, scope: CursorScope) {
  return z
    .unknown()
    .transform((text, context): EventKey | null => {
      if (text === undefined) return null
      const key = typeof text === 'string' ? cursors.decode(scope, text) : null
      if (key !== null) return key
      context.addIssue({
        code: 'custom',
        params: { code: 'invalid_cursor' },
        message: 'expected the next_cursor of a previous answer',
      })
      return z.NEVER
    })
    .optional()
    .transform((key) => key ?? null)
}

/** A page of a list, from 1. */
export const page = integer(1, 10_000, 1)
