import { dateTime } from '../../pipeline/store/date-time.ts'
import type { Store } from '../../pipeline/store/store.ts'

/** Why a delivery was not accepted. */
export const FAILURES = [
  'address_not_allowed',
  'unknown_host',
  'no_connection',
  'bad_certificate',
  'no_answer',
  'redirect',
  'status',
] as const
export type Failure = (typeof FAILURES)[number]

/** One attempt to deliver. */
export interface HookAttempt {
  /** Unix milliseconds at which it was sent. */
  readonly at: number
  /** `webhook-id`. */
  readonly delivery: string
  readonly kind: 'messages' | 'test'
  readonly messages: number
  /** From 1. */
  readonly attempt: number
  /** Null: the receiver has accepted it. */
  readonly failure: Failure | null
  /** HTTP status; 0 without an answer. */
  readonly status: number
  /** Until the answer was there, or it failed. */
  readonly latencyMs: number
}

/** Stores attempts to deliver. */
export function storeAttempts(
  store: Store,
  attempts: readonly { readonly id: string; readonly attempt: HookAttempt }[],
): Promise<void> {
  const rows = attempts.map(({ id, attempt }) => ({
    id,
    at: dateTime(attempt.at),
    delivery: attempt.delivery,
    kind: attempt.kind,
    messages: attempt.messages,
    attempt: attempt.attempt,
    status: attempt.status,
    failure: attempt.failure ?? '',
    latency_ms: attempt.latencyMs,
  }))
  return store.insert('webhook_deliveries', rows)
}

/** Returns the newest attempts of a webhook, newest first, at most `limit`. */
export async function readAttempts(
  store: Store,
  id: string,
  limit: number,
): Promise<HookAttempt[]> {
  const rows = await store.query<AttemptRow>(
    `SELECT toUnixTimestamp64Milli(at) AS sent, delivery, kind, messages, attempt, status, failure, latency_ms
     FROM webhook_deliveries WHERE id = {id:String} ORDER BY at DESC, attempt DESC LIMIT {limit:UInt32}`,
    { id, limit },
  )
  return rows.map((row) => ({
    at: Number(row.sent),
    delivery: row.delivery,
    kind: row.kind,
    messages: row.messages,
    attempt: row.attempt,
    status: row.status,
    failure: row.failure === '' ? null : row.failure,
    latencyMs: row.latency_ms,
  }))
}

interface AttemptRow {
  readonly sent: string
  readonly delivery: string
  readonly kind: 'messages' | 'test'
  readonly messages: number
  readonly attempt: number
  readonly status: number
  readonly failure: Failure | ''
  readonly latency_ms: number
}
