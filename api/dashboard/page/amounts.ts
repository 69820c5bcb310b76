/*
 * Amounts as people write and read them. Integers all the way: nothing here goes through a float.
 */

/** Reads an amount such as `12.5` as smallest units; null for what is no amount, is not above zero, or has more decimals than there are. */
export function parseUnits(text: string, decimals: number): bigint | null {
  const [, whole = '', fraction = ''] = /^([0-9]{1,18})(?:\.([0-9]+))?$/.exec(text.trim()) ?? []
  if (whole === '' || fraction.length > decimals) return null
  const units = BigInt(whole + fraction.padEnd(decimals, '0'))
  return units > 0n ? units : null
}

/** Smallest units as a decimal number, exact, without zeros at the end: `12.5`. */
export function unitsText(units: bigint, decimals: number): string {
  const digits = (units < 0n ? -units : units).toString().padStart(decimals + 1, '0')
  const whole = digits.slice(0, digits.length - decimals)
  const fraction = digits.slice(digits.length - decimals).replace(/0+$/, '')
  return `${units < 0n ? '-' : ''}${whole}${fraction === '' ? '' : `.${fraction}`}`
}

/** A number of JSON with at most `decimals` decimals as units: its shortest text is exact. Null for any other. */
export function unitsOfNumber(value: number, decimals: number): bigint | null {
  return parseUnits(String(value), decimals)
}

/** Decimals of a rate of credits (`CREDITS_PER_USDT`). */
export const RATE_DECIMALS = 6

/** Credits for a payment in raw units, rounded down once, as the service does it (rule E5). */
export function creditsFor(units: bigint, decimals: number, creditsPerUsdt: number): bigint {
  const rate = unitsOfNumber(creditsPerUsdt, RATE_DECIMALS) ?? 0n
  return (units * rate) / 10n ** BigInt(decimals + RATE_DECIMALS)
}

/** An integer with its thousands apart: `49,000`. */
export function grouped(value: number | bigint): string {
  return value.toString().replace(/\B(?=(\d{3})+$)/g, ',')
}

/** `1 credit`, `49,000 credits`. */
export function creditsText(credits: number | bigint): string {
  return `${grouped(credits)} credit${BigInt(credits) === 1n ? '' : 's'}`
}

/**
 * What a QR code of a payment says: a Solana Pay transfer request (docs.solanapay.com/spec), so that a wallet takes the right token and amount; a plain address would let it send SOL. `amount` in
 * decimal, null: the payer says how much.
 */
export function paymentUrl(payment: {
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

/** A span of time in its two largest units: `29 days 3 hours`. */
export function spanText(seconds: number): string {
  const parts = SPANS.map(
    ([name, size, next]) =>
      [name, Math.floor((next === null ? seconds : seconds % next) / size)] as const,
  )
  const first = parts.findIndex(([, count]) => count > 0)
  if (first === -1) return 'less than a second'
  return parts
    .slice(first, first + 2)
    .filter(([, count]) => count > 0)
    .map(([name, count]) => `${grouped(count)} ${name}${count === 1 ? '' : 's'}`)
    .join(' ')
}

const SPANS = [
  ['day', 86_400, null],
  ['hour', 3600, 86_400],
  ['minute', 60, 3600],
  ['second', 1, 60],
] as const

/** A time in unix seconds as `2026-11-21 23:05 UTC`. */
export function timeText(unix: number): string {
  return `${new Date(unix * 1000).toISOString().slice(0, 16).replace('T', ' ')} UTC`
}
