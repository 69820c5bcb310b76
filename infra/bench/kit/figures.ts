/** Writes one line of a bench's report. */
export function print(line: string): void {
  process.stdout.write(`${line}\n`)
}

/** Writes the head of a table in Markdown. */
export function printHead(...names: readonly string[]): void {
  printRow(...names)
  printRow(...names.map(() => '---'))
}

/** Writes a row of a table in Markdown. */
export function printRow(...cells: readonly (string | number)[]): void {
  print(`| ${cells.join(' | ')} |`)
}

/** The quantile of ascending values, by nearest rank; `part` is from 0 to 1. */
export function percentile(sorted: readonly number[], part: number): number {
  return sorted[Math.max(0, Math.ceil(part * sorted.length) - 1)] ?? Number.NaN
}

/** Quantiles of values in any order. */
export function percentiles(values: readonly number[], ...parts: readonly number[]): number[] {
  const sorted = values.toSorted((a, b) => a - b)
  return parts.map((part) => percentile(sorted, part))
}

/** The median of some values. */
export function median(values: readonly number[]): number {
  return percentiles(values, 0.5)[0] ?? Number.NaN
}

/** The sum of some values. */
export function sum(values: readonly number[]): number {
  return values.reduce((total, value) => total + value, 0)
}
