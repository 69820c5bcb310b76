/** Returns unix milliseconds as text for a column of type DateTime64(3, 'UTC'). */
export function dateTime(unixMs: number): string {
  return new Date(unixMs).toISOString().replace('T', ' ').replace('Z', '')
}
