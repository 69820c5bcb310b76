import { createHash } from 'node:crypto'
import { ServiceError } from '../../pipeline/domain/service-error.ts'

/** A change of an account's credits that has to be confirmed. */
export interface CreditChange {
  readonly wallet: string
  readonly credits: number
  readonly reason: string
}

/**
 * The code that confirms a change at `nowMs` (unix milliseconds). `expiresAt` is in unix seconds.
 */
export function confirmationOf(
  change: CreditChange,
  nowMs: number,
): { readonly code: string; readonly expiresAt: number } {
  const window = windowOf(nowMs)
  return { code: codeOf(change, window), expiresAt: ((window + 2) * WINDOW_MS) / 1000 }
}

/**
 * Throws `confirmation_required` for a change of more than `above` credits, added or taken away,
 * without the code of exactly this change. A code is valid for ten to twenty minutes.
 */
export function requireConfirmation(
  change: CreditChange,
  code: string | undefined,
  { above, nowMs }: { readonly above: number; readonly nowMs: number },
): void {
  if (Math.abs(change.credits) <= above) return
  const window = windowOf(nowMs)
  const isConfirmed = [window, window - 1].some((one) => codeOf(change, one) === code)
  if (isConfirmed && change.reason !== '') return
  throw new ServiceError(
    'confirmation_required',
    `more than ${above} credits need --reason and --confirm <code>: the command "account confirm" with the same --wallet, --credits and --reason prints the code`,
  )
}

function windowOf(nowMs: number): number {
  return Math.floor(nowMs / WINDOW_MS)
}

/**
 * The code is not a secret. It protects against an operator's mistakes, not against an attacker.
 */
function codeOf({ wallet, credits, reason }: CreditChange, window: number): string {
  const text = JSON.stringify([wallet, credits, reason, window])
  const digest = createHash('sha256').update(text).digest('hex')
  return `${digest.slice(0, 4)}-${digest.slice(4, 8)}`
}

const WINDOW_MS = 10 * 60_000
