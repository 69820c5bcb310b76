/*
 * Parses and formats amounts of credits and tokens. All arithmetic is on integers.
 */

/**
 * Parses a decimal amount such as `12.5` into raw units. Returns null for text that is not a
 * number, for zero, and for more than `decimals` decimals.
 */
export function parseUnits(text: string, decimals: number): bigint | null {
  const [, whole = '', fraction = ''] = /^([0-9]{1,18})(?:\.([0-9]+))?$/.exec(text.trim()) ?? []
  if (whole === '' || fraction.length > decimals) return null
  const units = BigInt(whole + fraction.padEnd(decimals, '0'))
  return units > 0n ? units : null
}

/** Formats raw units as an exact decimal number without trailing zeros: `12.5`. */
export function formatUnits(units: bigint, decimals: number): string {
  const digits = (units < 0n ? -units : units).toString().padStart(decimals + 1, '0')
  const whole = digits.slice(0, digits.length - decimals)
  const fraction = digits.slice(digits.length - decimals).replace(/0+$/, '')
  return `${units < 0n ? '-' : ''}${whole}${fraction === '' ? '' : `.${fraction}`}`
}

/**
 * Converts a JSON number with at most `decimals` decimals to raw units, by its shortest text.
 * Returns null for any other number.
 */
export function unitsFromNumber(value: number, decimals: number): bigint | null {
  return parseUnits(String(value), decimals)
}

/** Decimals of the rate `CREDITS_PER_USDT`. */
export const RATE_DECIMALS = 6

/** Returns the credits for a payment in raw units, rounded down as by the service (rule E5). */
export function creditsForPayment(units: bigint, decimals: number, creditsPerUsdt: number): bigint {
  const rate = unitsFromNumber(creditsPerUsdt, RATE_DECIMALS) ?? 0n
  return (units * rate) / 10n ** BigInt(decimals + RATE_DECIMALS)
}

/** Formats an integer with thousands separators: `49,000`. */
export function groupThousands(value: number | bigint): string {
  return value.toString().replace(/\B(?=(\d{3})+$)/g, ',')
}

/** Formats a number of credits: `1 credit`, `49,000 credits`. */
export function formatCredits(credits: number | bigint): string {
  return `${groupThousands(credits)} credit${BigInt(credits) === 1n ? '' : 's'}`
}

/**
 * Returns the Solana Pay transfer request (docs.solanapay.com/spec) of a payment. A wallet that
 * scans it sends the right token and amount; from a plain address it might send SOL.
 * `amount` is a decimal number of tokens. With null, the payer chooses the amount.
 */
export function solanaPayUrl(payment: {
  readonly to: string
  readonly mint: string
  readonly amount: string | null
  readonly label: string
}): string {
  const { to, mint, amount, label } = payment
  const query = [
    ...(amount === null ? [] : [['amount', amount]]),
    ['spl-token', mint],
    ['label', label],
  ].map(([name = '', value = '']) => `${name}=${encodeURIComponent(value)}`)
  return `solana:${to}?${query.join('&')}`
}

/** Formats a duration in its two largest units: `29 days 3 hours`. */
export function formatLongDuration(seconds: number): string {
  const parts = UNITS.map(
    ([name, size, next]) =>
      [name, Math.floor((next === null ? seconds : seconds % next) / size)] as const,
  )
  const first = parts.findIndex(([, count]) => count > 0)
  if (first === -1) return 'less than a second'
  return parts
    .slice(first, first + 2)
    .filter(([, count]) => count > 0)
    .map(([name, count]) => `${groupThousands(count)} ${name}${count === 1 ? '' : 's'}`)
    .join(' ')
}

const UNITS = [
  ['day', 86_400, null],
  ['hour', 3600, 86_400],
  ['minute', 60, 3600],
  ['second', 1, 60],
] as const

/** Formats unix seconds as `2026-11-21 23:05 UTC`. */
export function formatUtcTime(unix: number): string {
  return `${new Date(unix * 1000).toISOString().slice(0, 16).replace('T', ' ')} UTC`
}
