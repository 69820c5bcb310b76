import { percentiles } from '../bench/kit/figures.ts'

/** A moment at which something began, in unix milliseconds. */
export interface Moment {
  readonly at: number
  readonly name: string
}

/** The longest time without a trade after something began. */
export interface Silence {
  readonly name: string
  readonly ms: number
}

/**
 * Longest time for which a follower got no trade, after each moment and before the next one. A
 * silence ends with a trade, even if that comes after the next moment. `arrivals`: when trades
 * came, in unix milliseconds. Both lists are in order of time.
 */
export function longestSilences(
  arrivals: readonly number[],
  moments: readonly Moment[],
): readonly Silence[] {
  return moments.flatMap(({ at, name }, place) => {
    const end = moments[place + 1]?.at ?? Number.POSITIVE_INFINITY
    let ms = 0
    let before = at
    for (const arrival of arrivals) {
      if (arrival <= at) continue
      ms = Math.max(ms, arrival - before)
      before = arrival
      if (arrival >= end) break
    }
    return before === at ? [] : [{ name, ms }]
  })
}

/** One line for each name, in order of names: how often, and the median and longest silence. */
export function describeSilences(silences: readonly Silence[]): readonly string[] {
  return [...new Set(silences.map(({ name }) => name))].sort().map((name) => {
    const times = silences.flatMap((silence) => (silence.name === name ? [silence.ms] : []))
    const [median, most] = percentiles(times, 0.5, 1).map((ms) => (ms / 1000).toFixed(1))
    return `no trade for at most ${most} s, median ${median} s, after ${times.length} times: ${name}`
  })
}
