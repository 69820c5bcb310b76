import type { Store } from '../../pipeline/store/store.ts'

/** A stretch of the clock that usage is summed over, in UTC. */
export type UsagePeriod = 'hour' | 'day'

/** What an account used in one period. */
export interface Usage {
  /** Unix seconds. */
  readonly startsAt: number
  /**
   * Below zero when more came back than was used: credits of a call that failed in the period
   * before, or what a feed had reserved.
   */
  readonly credits: number
}

/** Seconds of each period; a day of UTC has no other length in unix time. */
export const PERIOD_SECONDS = { hour: 3600, day: 86_400 } as const

/**
 * What an account used by period, newest first: of the period that `now` (unix milliseconds) is in
 * and of those before it, `count` in all; periods without use are left out. From the ledger, so
 * what was used in the last second may be missing. An entry counts for the time at which it was
 * rolled up.
 */
export async function readUsage(
  store: Store,
  account: string,
  { by, count, now }: { readonly by: UsagePeriod; readonly count: number; readonly now: number },
): Promise<Usage[]> {
  const length = PERIOD_SECONDS[by]
  const current = Math.floor(now / 1000 / length) * length
  const since = Math.max(0, current - (count - 1) * length)
  const rows = await store.query<{ starts_at: number; used: string }>(
    `SELECT toUInt32(intDiv(toUnixTimestamp(created_at), {length:UInt32}) * {length:UInt32}) AS starts_at, -sum(credits) AS used
     FROM ledger_entries FINAL
     WHERE wallet = {account:String} AND cause = 'usage' AND created_at >= fromUnixTimestamp64Milli({since:Int64})
     GROUP BY starts_at HAVING used != 0 ORDER BY starts_at DESC LIMIT {count:UInt32}`,
    { account, length, since: since * 1000, count },
  )
  return rows.map(({ starts_at, used }) => ({ startsAt: starts_at, credits: Number(used) }))
}
