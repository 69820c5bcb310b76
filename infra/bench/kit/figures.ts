/** Writes one line of a bench's report. */
export function print(line: string): void {
  process.stdout.write(`${line}\n`)
}

/** The quantile of ascending values, by nearest rank; `part` is from 0 to 1. */
export function percentile(sorted: readonly number[], part: number): number {
  return sorted[Math.max(0, Math.ceil(part * sorted.length) - 1)] ?? Number.NaN
}

/** The median of some values. */
export function median(values: readonly number[]): number {
  return percentile(
    values.toSorted((a, b) => a - b),
    0.5,
  )
}

/** The sum of some values. */
export function sum(values: readonly number[]): number {
  return values.reduce((total, value) => total + value, 0)
}
