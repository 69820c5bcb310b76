import type { SignalItem } from '../../../items/signal.ts'
import type { SocketMessage } from './feed-socket.ts'
import {
  formatChange,
  formatDuration,
  formatNumber,
  formatPercent,
  formatSol,
  formatUsd,
} from './format.ts'

/** Signals by id, oldest first. */
export type SignalsById = ReadonlyMap<string, SignalItem>

/** How many signals the page lists. */
const MAX_SIGNALS = 300

/** Returns the signals of `GET /me/signals/filter`, which lists them newest first. */
export function signalsFromResponse(items: readonly SignalItem[]): SignalsById {
  return new Map([...items].reverse().map((item) => [item.id, item]))
}

/** Adds the signals of channel `signals`. A signal received twice is listed once. */
export function applySignalMessages(
  before: SignalsById,
  messages: readonly (SocketMessage & { readonly data?: unknown })[],
): SignalsById {
  const signals = new Map(before)
  for (const { channel, data } of messages) {
    if (channel !== 'signals') continue
    const item = data as SignalItem // a message of the API documents
    signals.set(item.id, item)
  }
  const newest = [...signals.values()].sort((a, b) => a.fired_at - b.fired_at).slice(-MAX_SIGNALS)
  return new Map(newest.map((item) => [item.id, item]))
}

type ComparedValue = SignalItem['reasons'][number]['value']

/** Formats a condition that fired: `conviction was 72.5 (at least 60)`. */
export function reasonText(reason: SignalItem['reasons'][number]): string {
  const { field, op, threshold, value } = reason
  if (field === 'near_evict')
    return `the token was ${value === true ? '' : 'not '}about to leave the list`
  const [name, actual] = [fieldText(field), valueText(field, value)]
  const text = isChange(field)
    ? `${name} changed by ${actual} in one hour`
    : `${name} was ${actual}`
  if (op === '=' && value === threshold) return text
  return `${text} (${OPERATORS[op]} ${valueText(field, threshold)})`
}

/** Formats the name of a strategy: `smart-money-exit` becomes `Smart money exit`. */
export function strategyTitle(name: string): string {
  const words = name.replace(/[-_]+/g, ' ').trim()
  return words.charAt(0).toUpperCase() + words.slice(1)
}

function fieldText(field: string): string {
  const [first = '', second = '', third] = field.split('.')
  if (first !== 'momentum') return FIELDS[field]?.name ?? field.replaceAll('_', ' ')
  const of = MOMENTUM[second]?.name ?? second
  return third === 'trend' ? `the trend of ${of}` : of
}

/** Whether a field is the change of a value within the last hour, in percent. */
function isChange(field: string): boolean {
  return field.startsWith('momentum.') && field.endsWith('.change_pct')
}

function valueText(field: string, value: ComparedValue): string {
  if (typeof value === 'boolean') return value ? 'yes' : 'no'
  if (typeof value !== 'number') return value
  const [first, second = ''] = field.split('.')
  if (isChange(field)) return formatChange(value)
  const kind = first === 'momentum' ? MOMENTUM[second]?.kind : FIELDS[field]?.kind
  return kind === undefined ? formatNumber(value).text : KINDS[kind](value)
}

type Kind = 'number' | 'sol' | 'usd' | 'span' | 'fraction' | 'multiple'

const KINDS: Readonly<Record<Kind, (value: number) => string>> = {
  number: (value) => formatNumber(value).text,
  sol: (value) => `${formatSol(value).text} SOL`,
  usd: (value) => formatUsd(value).text,
  span: (value) => formatDuration(value).text,
  fraction: (value) => formatPercent(value * 100).text,
  multiple: (value) => `${formatNumber(value).text}×`,
}

const OPERATORS: Readonly<Record<SignalItem['reasons'][number]['op'], string>> = {
  '>': 'above',
  '>=': 'at least',
  '<': 'below',
  '<=': 'at most',
  '=': 'exactly',
  '!=': 'not',
}

const FIELDS: Readonly<Record<string, { readonly name: string; readonly kind: Kind }>> = {
  conviction: { name: 'conviction', kind: 'number' },
  wallets_holding: { name: 'the number of holders', kind: 'number' },
  age_seconds: { name: 'the age of the token', kind: 'span' },
  discovered_seconds: { name: 'the time since its discovery', kind: 'span' },
  oldest_hold_seconds: { name: 'the age of the oldest position', kind: 'span' },
  watchlist_seconds: { name: 'the time on the list', kind: 'span' },
  sol_held: { name: 'the cost of the holdings', kind: 'sol' },
  pct_held: { name: 'the share held', kind: 'fraction' },
  avg_entry_mcap: { name: 'the mean entry market cap', kind: 'usd' },
  current_mcap: { name: 'the market cap', kind: 'usd' },
  multiple: { name: 'the multiple of the mean entry market cap', kind: 'multiple' },
  band_min: { name: 'the lowest entry market cap', kind: 'usd' },
  band_max: { name: 'the highest entry market cap', kind: 'usd' },
  buy_volume: { name: 'the buy volume of the last hour', kind: 'sol' },
  sell_volume: { name: 'the sell volume of the last hour', kind: 'sol' },
  state: { name: 'the state', kind: 'number' },
}

const MOMENTUM: Readonly<Record<string, { readonly name: string; readonly kind: Kind }>> = {
  mcap: { name: 'the market cap', kind: 'usd' },
  holders: { name: 'the number of holders', kind: 'number' },
  volume1h: { name: 'the volume of the last hour', kind: 'sol' },
  liquidity: { name: 'the liquidity', kind: 'sol' },
}
