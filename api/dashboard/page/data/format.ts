/*
 * Formats numbers for people. Raw amounts are truncated and grouped as text, so no digit is lost.
 */

import { groupThousands } from '../amounts.ts'

/** A number in short form, and in exact form with every digit. */
export interface FormattedNumber {
  readonly text: string
  readonly exact: string
}

/** Stands for a number that is not known. */
export const UNKNOWN_NUMBER: FormattedNumber = { text: '–', exact: 'not known' }

/** Formats a raw amount with every digit: `formatExactAmount('-1234567', 3)` is `-1,234.567`. */
export function formatExactAmount(raw: string, decimals: number): string {
  const { sign, whole, fraction } = split(raw, decimals)
  const rest = fraction.replace(/0+$/, '')
  return `${sign}${groupedDigits(whole)}${rest === '' ? '' : `.${rest}`}`
}

/**
 * Formats a raw amount with at least four significant digits, from a million on as `12.34 M`.
 * It is truncated, so it never shows more than there is.
 */
export function formatAmount(raw: string, decimals: number): FormattedNumber {
  const exact = formatExactAmount(raw, decimals)
  const { sign, whole, fraction } = split(raw, decimals)
  const large = LARGE.find(({ digits }) => whole.length > digits)
  if (large !== undefined) {
    const head = whole.slice(0, -large.digits)
    const tail = truncateDecimals(whole.slice(-large.digits), Math.max(0, 4 - head.length))
    return { text: `${sign}${groupedDigits(head)}${tail} ${large.name}`, exact }
  }
  if (whole !== '0')
    return {
      text: `${sign}${groupedDigits(whole)}${truncateDecimals(fraction, Math.max(0, 5 - whole.length))}`,
      exact,
    }
  const zeros = fraction.length - fraction.replace(/^0+/, '').length
  const tail = truncateDecimals(fraction, zeros + 4)
  return { text: tail === '' ? '0' : `${sign}0${tail}`, exact }
}

const LARGE = [
  { digits: 15, name: 'Q' },
  { digits: 12, name: 'T' },
  { digits: 9, name: 'B' },
  { digits: 6, name: 'M' },
]

/** Formats an amount of SOL. Below nine million SOL the exact form is exact to the lamport. */
export function formatSol(sol: number | null): FormattedNumber {
  if (sol === null) return UNKNOWN_NUMBER
  const size = Math.abs(sol)
  const digits = size >= 1000 ? 1 : size >= 10 ? 2 : size >= 1 ? 3 : size >= 0.01 ? 4 : 6
  return {
    text: size > 0 && size < 0.000001 ? `${sol < 0 ? '-' : ''}<0.000001` : fixed(sol, digits),
    exact: `${fixed(sol, 9)} SOL`,
  }
}

/** Formats an amount of USD, such as a market cap: `$1.23 M`. */
export function formatUsd(usd: number | null): FormattedNumber {
  if (usd === null) return UNKNOWN_NUMBER
  const size = Math.abs(usd)
  const [unit, name] =
    size >= 1e9 ? [1e9, ' B'] : size >= 1e6 ? [1e6, ' M'] : size >= 1e4 ? [1e3, ' K'] : [1, '']
  const short = fixed(size / unit, size / unit >= 100 ? 0 : 2)
  return { text: `${usd < 0 ? '-' : ''}$${short}${name}`, exact: `${fixed(usd, 2)} USD` }
}

/** Formats a number with at most `digits` decimals. The exact form has up to nine. */
export function formatNumber(value: number | null, digits = 2): FormattedNumber {
  return value === null ? UNKNOWN_NUMBER : { text: fixed(value, digits), exact: fixed(value, 9) }
}

/** Formats a percentage given as 0 to 100. */
export function formatPercent(percent: number | null): FormattedNumber {
  if (percent === null) return UNKNOWN_NUMBER
  return { text: `${fixed(percent, 1)}%`, exact: `${fixed(percent, 6)}%` }
}

/**
 * Formats a change in percent with its sign: `+5.3%`. A change that rounds to 0 has none. An
 * unknown change is a dash.
 */
export function formatChange(percent: number | null): string {
  if (percent === null) return UNKNOWN_NUMBER.text
  const text = fixed(percent, 1)
  return `${percent > 0 && text !== '0' ? '+' : ''}${text}%`
}

/** Formats a duration in its two largest units: `2 h 5 min`. `seconds` must not be negative. */
export function formatDuration(seconds: number | null): FormattedNumber {
  if (seconds === null) return UNKNOWN_NUMBER
  const exact = `${fixed(seconds, 3)} seconds`
  const whole = Math.round(seconds)
  const first = UNITS.findIndex(({ size }) => whole >= size)
  const { size, name } = UNITS[first] ?? { size: 1, name: 's' }
  const next = UNITS[first + 1]
  const rest = next === undefined ? 0 : Math.floor((whole % size) / next.size)
  const text = `${Math.floor(whole / size)} ${name}`
  return { text: rest > 0 && next !== undefined ? `${text} ${rest} ${next.name}` : text, exact }
}

/** Adds a plus to a number above 0, so that its direction does not depend on colour. */
export function withSign(value: number, { text, exact }: FormattedNumber): FormattedNumber {
  return value > 0 ? { text: `+${text}`, exact: `+${exact}` } : { text, exact }
}

/** Formats a price with four significant digits, never in exponential notation. */
export function formatPrice(price: number | null): FormattedNumber {
  if (price === null) return UNKNOWN_NUMBER
  if (price === 0) return { text: '0', exact: '0' }
  const digits = Math.max(0, 3 - Math.floor(Math.log10(Math.abs(price))))
  return { text: fixed(price, Math.min(digits, 20)), exact: fixed(price, Math.min(digits + 8, 20)) }
}

const UNITS = [
  { size: 86_400, name: 'd' },
  { size: 3600, name: 'h' },
  { size: 60, name: 'min' },
  { size: 1, name: 's' },
]

/**
 * Formats unix seconds in a local time zone, and in UTC in the exact form. `offsetMinutes` is how
 * far local time is behind UTC, as `Date.getTimezoneOffset` returns it.
 */
export function formatTime(unix: number, offsetMinutes: number): FormattedNumber {
  const local = new Date((unix - offsetMinutes * 60) * 1000).toISOString()
  const utc = new Date(unix * 1000).toISOString()
  return {
    text: `${local.slice(0, 10)} ${local.slice(11, 19)}`,
    exact: `${utc.slice(0, 10)} ${utc.slice(11, 19)} UTC`,
  }
}

/** Shortens an address to its first and last four characters. */
export function shortAddress(address: string): string {
  return address.length <= 12 ? address : `${address.slice(0, 4)}…${address.slice(-4)}`
}

function split(raw: string, decimals: number) {
  const sign = raw.startsWith('-') ? '-' : ''
  const digits = raw.slice(sign.length).padStart(decimals + 1, '0')
  return {
    sign,
    whole: digits.slice(0, digits.length - decimals),
    fraction: digits.slice(digits.length - decimals),
  }
}

/** Returns the point and the first `digits` decimals, without trailing zeros. */
function truncateDecimals(fraction: string, digits: number): string {
  const kept = fraction.slice(0, digits).replace(/0+$/, '')
  return kept === '' ? '' : `.${kept}`
}

const groupedDigits = (digits: string) => groupThousands(BigInt(digits))

/** Formats a number with at most `digits` decimals, rounded, without trailing zeros. */
function fixed(value: number, digits: number): string {
  const text = Math.abs(value) < 1e21 ? value.toFixed(digits) : BigInt(value).toString()
  const [whole = '0', fraction = ''] = text.replace('-', '').split('.')
  const shown = `${groupedDigits(whole)}${truncateDecimals(fraction, digits)}`
  return value < 0 && shown !== '0' ? `-${shown}` : shown
}
