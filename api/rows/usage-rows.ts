import type { Store } from '../../pipeline/store/store.ts'

/** A period that usage is summed over, in UTC. */
export type UsagePeriod = 'hour' | 'day'

/** Usage of an account in one period. */
export interface Usage {
  /** Unix seconds. */
  readonly startsAt: number
  /**
   * Negative if more credits were returned than used: refunds of a call of the period before, or a
   * block that a feed connection had reserved.
   */
  readonly credits: number
}

/** Seconds of each period. Every UTC day has 86,400 in unix time. */
export const PERIOD_SECONDS = { hour: 3600, day: 86_400 } as const

/**
 * Reads the usage of an account by period, newest first: of the period of `now` (unix milliseconds)
 * and those before it, `count` in all; periods without use are left out. It comes from the ledger,
 * so the last second may be missing. An entry counts at the time of its roll-up.
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
