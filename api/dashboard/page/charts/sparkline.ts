/**
 * Returns the path of an SVG line through values at equal distances, scaled to fill `width` by
 * `height` but for a margin of one unit. Equal values are a line in the middle.
 */
export function sparklinePath(values: readonly number[], width: number, height: number): string {
  const least = Math.min(...values)
  const range = Math.max(...values) - least
  const x = (index: number) => 1 + (index / Math.max(1, values.length - 1)) * (width - 2)
  const y = (value: number) =>
    range === 0 ? height / 2 : height - 1 - ((value - least) / range) * (height - 2)
  return values
    .map(
      (value, index) => `${index === 0 ? 'M' : 'L'}${x(index).toFixed(1)} ${y(value).toFixed(1)}`,
    )
    .join('')
}
