import type { SignalItem } from '../../../items/signal.ts'
import type { SocketMessage } from './feed-socket.ts'
import {
  changeText,
  numberFigure,
  percentFigure,
  solFigure,
  spanFigure,
  usdFigure,
} from './figures.ts'

/** Signals by id, in the order in which they came. */
export type Signals = ReadonlyMap<string, SignalItem>

/** How many are listed; the oldest leave first. */
const MOST = 300

/** The signals as `GET /me/signals/filter` gives them, newest first. */
export function wholeSignals(items: readonly SignalItem[]): Signals {
  return new Map([...items].reverse().map((item) => [item.id, item]))
}

/** The signals after messages of channel `signals`; one that comes twice is there once. */
export function withSignalMessages(
  before: Signals,
  messages: readonly (SocketMessage & { readonly data?: unknown })[],
): Signals {
  const signals = new Map(before)
  for (const { channel, data } of messages) {
    if (channel !== 'signals') continue
    const item = data as SignalItem // the service speaks by its schemas
    signals.set(item.id, item)
  }
  const newest = [...signals.values()].sort((a, b) => a.fired_at - b.fired_at).slice(-MOST)
  return new Map(newest.map((item) => [item.id, item]))
}

type Compared = SignalItem['reasons'][number]['value']

/** A condition that led to a signal, as a sentence: `conviction was 72.5, at least 60`. */
export function reasonWords(reason: SignalItem['reasons'][number]): string {
  const { field, op, threshold, value } = reason
  if (field === 'near_evict') return `it was ${value === true ? '' : 'not '}about to leave the list`
  const said = (figure: Compared) => figureWords(field, figure)
  const was = `${fieldWords(field)} was ${said(value)}`
  if (op === '=' && value === threshold) return was
  return `${was} (${OPERATORS[op]} ${said(threshold)})`
}

/** A name such as `smart-money-exit` as people write it. */
export function nameWords(name: string): string {
  const words = name.replace(/[-_]+/g, ' ').trim()
  return words.charAt(0).toUpperCase() + words.slice(1)
}

function fieldWords(field: string): string {
  const [first = '', second = '', third] = field.split('.')
  if (first !== 'momentum') return FIELDS[field]?.name ?? field.replaceAll('_', ' ')
  const of = MOMENTUM[second]?.name ?? second
  if (third === 'trend') return `the trend of ${of}`
  return third === 'change_pct' ? `the change of ${of} within an hour` : of
}

function figureWords(field: string, value: Compared): string {
  if (typeof value === 'boolean') return value ? 'yes' : 'no'
  if (typeof value !== 'number') return value
  const [first, second = '', third] = field.split('.')
  if (first === 'momentum' && third === 'change_pct') return changeText(value)
  const kind = first === 'momentum' ? MOMENTUM[second]?.kind : FIELDS[field]?.kind
  return kind === undefined ? numberFigure(value).text : KINDS[kind](value)
}

type Kind = 'number' | 'sol' | 'usd' | 'span' | 'fraction' | 'multiple'

const KINDS: Readonly<Record<Kind, (value: number) => string>> = {
  number: (value) => numberFigure(value).text,
  sol: (value) => `${solFigure(value).text} SOL`,
  usd: (value) => usdFigure(value).text,
  span: (value) => spanFigure(value).text,
  fraction: (value) => percentFigure(value * 100).text,
  multiple: (value) => `${numberFigure(value).text}×`,
}

const OPERATORS: Readonly<Record<SignalItem['reasons'][number]['op'], string>> = {
  '>': 'above',
  '>=': 'at least',
  '<': 'below',
  '<=': 'at most',
  '=': 'to be',
  '!=': 'not to be',
}

const FIELDS: Readonly<Record<string, { readonly name: string; readonly kind: Kind }>> = {
  conviction: { name: 'conviction', kind: 'number' },
  wallets_holding: { name: 'the number of holders', kind: 'number' },
  age_seconds: { name: 'the age of the token', kind: 'span' },
  discovered_seconds: { name: 'the time since its discovery', kind: 'span' },
  oldest_hold_seconds: { name: 'the age of the oldest position', kind: 'span' },
  watchlist_seconds: { name: 'the time on the list', kind: 'span' },
  sol_held: { name: 'what the holders paid for what they have', kind: 'sol' },
  pct_held: { name: 'the part still held', kind: 'fraction' },
  avg_entry_mcap: { name: 'the mean entry market cap', kind: 'usd' },
  current_mcap: { name: 'the market cap', kind: 'usd' },
  multiple: { name: 'the multiple of the mean entry', kind: 'multiple' },
  band_min: { name: 'the lowest entry', kind: 'usd' },
  band_max: { name: 'the highest entry', kind: 'usd' },
  buy_volume: { name: 'what was bought within an hour', kind: 'sol' },
  sell_volume: { name: 'what was sold within an hour', kind: 'sol' },
  state: { name: 'the state', kind: 'number' },
}

const MOMENTUM: Readonly<Record<string, { readonly name: string; readonly kind: Kind }>> = {
  mcap: { name: 'the market cap', kind: 'usd' },
  holders: { name: 'the number of holders', kind: 'number' },
  volume1h: { name: 'the volume of an hour', kind: 'sol' },
  liquidity: { name: 'the liquidity', kind: 'sol' },
}
