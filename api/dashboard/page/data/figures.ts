/*
 * Figures as a person reads them. Amounts are cut and grouped as text, so that nothing is lost on the way; what is cut is in `exact`.
 */

import { grouped } from '../amounts.ts'

/** A figure in short, and in full for whoever wants all of it. */
export interface Figure {
  readonly text: string
  readonly exact: string
}

/** What stands where there is no figure. */
export const NONE: Figure = { text: '–', exact: 'not known' }

/** A raw amount in whole units with every digit, grouped: `rawAmount('-1234567', 3)` is `-1,234.567`. By string alone; `raw` as the API gives it. */
export function exactAmount(raw: string, decimals: number): string {
  const { sign, whole, fraction } = split(raw, decimals)
  const rest = fraction.replace(/0+$/, '')
  return `${sign}${groupedDigits(whole)}${rest === '' ? '' : `.${rest}`}`
}

/** A raw amount in short: at least four significant digits, cut and not rounded (so it never shows more than there is), from a million on as `12.34 M`. */
export function amountFigure(raw: string, decimals: number): Figure {
  const exact = exactAmount(raw, decimals)
  const { sign, whole, fraction } = split(raw, decimals)
  const large = LARGE.find(({ digits }) => whole.length > digits)
  if (large !== undefined) {
    const head = whole.slice(0, -large.digits)
    const tail = cut(whole.slice(-large.digits), Math.max(0, 4 - head.length))
    return { text: `${sign}${groupedDigits(head)}${tail} ${large.name}`, exact }
  }
  if (whole !== '0')
    return {
      text: `${sign}${groupedDigits(whole)}${cut(fraction, Math.max(0, 5 - whole.length))}`,
      exact,
    }
  const zeros = fraction.length - fraction.replace(/^0+/, '').length
  const tail = cut(fraction, zeros + 4)
  return { text: tail === '' ? '0' : `${sign}0${tail}`, exact }
}

const LARGE = [
  { digits: 15, name: 'Q' },
  { digits: 12, name: 'T' },
  { digits: 9, name: 'B' },
  { digits: 6, name: 'M' },
]

/** A figure in SOL as the API gives it (a number); exact to the lamport below nine million. */
export function solFigure(sol: number | null): Figure {
  if (sol === null) return NONE
  const size = Math.abs(sol)
  const digits = size >= 1000 ? 1 : size >= 10 ? 2 : size >= 1 ? 3 : size >= 0.01 ? 4 : 6
  return {
    text: size > 0 && size < 0.000001 ? `${sol < 0 ? '-' : ''}<0.000001` : fixed(sol, digits),
    exact: `${fixed(sol, 9)} SOL`,
  }
}

/** A figure in USD, such as a market cap: `$1.23 M`. */
export function usdFigure(usd: number | null): Figure {
  if (usd === null) return NONE
  const size = Math.abs(usd)
  const [unit, name] =
    size >= 1e9 ? [1e9, ' B'] : size >= 1e6 ? [1e6, ' M'] : size >= 1e4 ? [1e3, ' K'] : [1, '']
  const short = fixed(size / unit, size / unit >= 100 ? 0 : 2)
  return { text: `${usd < 0 ? '-' : ''}$${short}${name}`, exact: `${fixed(usd, 2)} USD` }
}

/** Any other number: at most `digits` after the point, all of them in full. */
export function numberFigure(value: number | null, digits = 2): Figure {
  return value === null ? NONE : { text: fixed(value, digits), exact: fixed(value, 9) }
}

/** A percentage, of 0 to 100. */
export function percentFigure(percent: number | null): Figure {
  if (percent === null) return NONE
  return { text: `${fixed(percent, 1)}%`, exact: `${fixed(percent, 6)}%` }
}

/** A change in percent with its sign, where one is left. */
export function changeText(percent: number): string {
  const text = fixed(percent, 1)
  return `${percent > 0 && text !== '0' ? '+' : ''}${text}%`
}

/** A span in words, its two largest units: `2 h 5 min`. `seconds` 0 or more; null where there is none. */
export function spanFigure(seconds: number | null): Figure {
  if (seconds === null) return NONE
  const exact = `${fixed(seconds, 3)} seconds`
  const whole = Math.round(seconds)
  const first = SPANS.findIndex(({ size }) => whole >= size)
  const { size, name } = SPANS[first] ?? { size: 1, name: 's' }
  const next = SPANS[first + 1]
  const rest = next === undefined ? 0 : Math.floor((whole % size) / next.size)
  const text = `${Math.floor(whole / size)} ${name}`
  return { text: rest > 0 && next !== undefined ? `${text} ${rest} ${next.name}` : text, exact }
}

const SPANS = [
  { size: 86_400, name: 'd' },
  { size: 3600, name: 'h' },
  { size: 60, name: 'min' },
  { size: 1, name: 's' },
]

/** A time on the clock of whoever looks, `offsetMinutes` behind UTC (`Date.getTimezoneOffset`); in full, in UTC. Without seconds for days before `today`'s. */
export function timeFigure(unix: number, offsetMinutes: number): Figure {
  const local = new Date((unix - offsetMinutes * 60) * 1000).toISOString()
  const utc = new Date(unix * 1000).toISOString()
  return {
    text: `${local.slice(0, 10)} ${local.slice(11, 19)}`,
    exact: `${utc.slice(0, 10)} ${utc.slice(11, 19)} UTC`,
  }
}

/** An address with its middle left out. */
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

/** The first digits after the point, with the point, without zeros at the end. */
function cut(fraction: string, digits: number): string {
  const kept = fraction.slice(0, digits).replace(/0+$/, '')
  return kept === '' ? '' : `.${kept}`
}

const groupedDigits = (digits: string) => grouped(BigInt(digits))

/** At most `digits` after the point, without zeros at the end. */
function fixed(value: number, digits: number): string {
  const text = Math.abs(value) < 1e21 ? value.toFixed(digits) : BigInt(value).toString()
  const [whole = '0', fraction = ''] = text.replace('-', '').split('.')
  const shown = `${groupedDigits(whole)}${cut(fraction, digits)}`
  return value < 0 && shown !== '0' ? `-${shown}` : shown
}
