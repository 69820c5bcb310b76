/** An hour of the day and its number of transactions. */
export interface HourBar {
  /** Start of the hour in UTC, such as `14:00`. */
  readonly utc: string
  /** The same in local time. The offset may include part of an hour. */
  readonly local: string
  readonly count: number
  /** `count` as a fraction of the busiest hour, 0 to 1. */
  readonly fraction: number
}

/**
 * Returns the hours in the order of the UTC day. `offsetMinutes` is how far local time is behind
 * UTC, as `Date.getTimezoneOffset` returns it.
 */
export function hourBars(
  times: readonly { readonly hour_utc: number; readonly tx_count: number }[],
  offsetMinutes: number,
): readonly HourBar[] {
  const most = Math.max(1, ...times.map(({ tx_count }) => tx_count))
  return [...times]
    .sort((a, b) => a.hour_utc - b.hour_utc)
    .map(({ hour_utc, tx_count }) => ({
      utc: clock(hour_utc * 60),
      local: clock(hour_utc * 60 - offsetMinutes),
      count: tx_count,
      fraction: tx_count / most,
    }))
}

function clock(minutes: number): string {
  const minuteOfDay = ((minutes % 1440) + 1440) % 1440
  const two = (value: number) => value.toString().padStart(2, '0')
  return `${two(Math.floor(minuteOfDay / 60))}:${two(minuteOfDay % 60)}`
}
