import type { BookMode } from './book-mode.tsx'

/** Spans of the profit chart, each with the distance of its points. */
export const PROFIT_SPANS = {
  '7d': { text: '7 days, hourly', days: 7, interval: '1h' },
  '30h': { text: '30 days, hourly', days: 30, interval: '1h' },
  '30d': { text: '30 days, daily', days: 30, interval: '1d' },
  '90d': { text: '90 days, daily', days: 90, interval: '1d' },
  '1y': { text: '1 year, daily', days: 365, interval: '1d' },
} as const

/** A span of the profit chart. */
export type ProfitSpan = keyof typeof PROFIT_SPANS

/**
 * Returns the path of a request for the profit of a wallet (rule L8), up to now (unix seconds). It
 * stays the same for an interval, so that a loaded response is found again. 30 days by day are what
 * the service answers by itself.
 */
export function profitPath(alias: string, span: ProfitSpan, mode: BookMode, now: number): string {
  const { days, interval } = PROFIT_SPANS[span]
  const seconds = interval === '1h' ? 3600 : 86_400
  const from = Math.floor(now / seconds) * seconds - days * 86_400
  const range = span === '30d' ? '' : `&from=${from}`
  return `/wallets/${encodeURIComponent(alias)}/pnl?interval=${interval}${range}&mode=${mode}`
}
