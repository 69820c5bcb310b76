import { dateTime } from '../../pipeline/store/date-time.ts'
import type { Row, Store } from '../../pipeline/store/store.ts'

/** Why a webhook waits; `active`: it does not. */
export const HOOK_STATES = ['active', 'balance_exhausted', 'failing', 'gone', 'disabled'] as const
export type HookState = (typeof HOOK_STATES)[number]

/** How far a webhook was delivered, and what it has taken over of its row in `webhooks`. */
export interface HookProgress {
  /** Cursor of the last message that was delivered. */
  readonly after: string
  /** `trade_id`s of the delivery under way, which are paid. */
  readonly charged: readonly string[]
  /** Trades between these two cursors are paid; `freeThrough` empty: nothing is replayed. */
  readonly freeAfter: string
  readonly freeThrough: string
  /** Cursor at which the filter was last changed. */
  readonly filterAfter: string
  readonly filters: number
  readonly replays: number
  readonly tests: number
  readonly activations: number
  readonly state: HookState
  /** Unix milliseconds of the first of the failures in a row; null: the last one was accepted. */
  readonly failingSince: number | null
  readonly version: number
}

/** The progress of a webhook of which nothing was delivered. */
export const NO_PROGRESS: HookProgress = {
  after: '',
  charged: [],
  freeAfter: '',
  freeThrough: '',
  filterAfter: '',
  filters: 0,
  replays: 0,
  tests: 0,
  activations: 0,
  state: 'active',
  failingSince: null,
  version: 0,
}

/** Returns the progress of webhooks by id. A webhook that was never run has none. */
export async function readHookProgress(
  store: Store,
  ids: readonly string[],
): Promise<ReadonlyMap<string, HookProgress>> {
  const rows = await store.query<ProgressRow>(
    `SELECT id, after, charged, free_after, free_through, filter_after, filters, replays, tests,
       activations, state, toUnixTimestamp64Milli(failing_since) AS failing, version
     FROM webhook_progress FINAL WHERE id IN {ids:Array(String)} LIMIT 1000000`,
    { ids },
  )
  return new Map(
    rows.map((row) => [
      row.id,
      {
        after: row.after,
        charged: row.charged,
        freeAfter: row.free_after,
        freeThrough: row.free_through,
        filterAfter: row.filter_after,
        filters: row.filters,
        replays: row.replays,
        tests: row.tests,
        activations: row.activations,
        state: row.state,
        failingSince: row.failing === null ? null : Number(row.failing),
        version: Number(row.version),
      },
    ]),
  )
}

/** Stores the progress of webhooks, those of one moment together. */
export function storeHookProgress(
  store: Store,
  progress: ReadonlyMap<string, HookProgress>,
): Promise<void> {
  const rows = [...progress].map(
    ([id, one]): Row => ({
      id,
      after: one.after,
      charged: [...one.charged],
      free_after: one.freeAfter,
      free_through: one.freeThrough,
      filter_after: one.filterAfter,
      filters: one.filters,
      replays: one.replays,
      tests: one.tests,
      activations: one.activations,
      state: one.state,
      failing_since: one.failingSince === null ? null : dateTime(one.failingSince),
      version: one.version,
    }),
  )
  return store.insert('webhook_progress', rows)
}

interface ProgressRow {
  readonly id: string
  readonly after: string
  readonly charged: readonly string[]
  readonly free_after: string
  readonly free_through: string
  readonly filter_after: string
  readonly filters: number
  readonly replays: number
  readonly tests: number
  readonly activations: number
  readonly state: HookState
  readonly failing: string | null
  readonly version: string
}
