/** An hour of the day with what happened in it. */
export interface HourBar {
  /** `14:00` */
  readonly utc: string
  /** The same on another clock, which may be apart by parts of an hour. */
  readonly local: string
  readonly count: number
  /** Of the busiest hour, 0 to 1. */
  readonly part: number
}

/** The hours in the order of the day in UTC; `offsetMinutes` behind UTC as `Date.getTimezoneOffset` says. */
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
      part: tx_count / most,
    }))
}

function clock(minutes: number): string {
  const ofDay = ((minutes % 1440) + 1440) % 1440
  const two = (value: number) => value.toString().padStart(2, '0')
  return `${two(Math.floor(ofDay / 60))}:${two(ofDay % 60)}`
}
