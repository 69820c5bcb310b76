/** Unix milliseconds as ClickHouse reads a DateTime64(3, 'UTC'). */
export function dateTime(unixMs: number): string {
  return new Date(unixMs).toISOString().replace('T', ' ').replace('Z', '')
}
