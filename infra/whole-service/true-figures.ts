import { createPerturb, serveSwap } from '../../pipeline/domain/perturbation.ts'

/** Runs one query of the operator; returns its rows. */
export type AskOperator = <T>(sql: string) => Promise<T[]>

/**
 * Minimum number of digits of a telling figure: two such figures are equal only where one is the
 * other, because amounts spread over far more values.
 */
const TELLING_DIGITS = 9

/**
 * The telling figures of a text, as digits without point, sign and surrounding zeros, so that
 * lamports and SOL are equal.
 */
export function tellingFigures(text: string): string[] {
  const figures = text.match(/(?<![\w.])\d+(?:\.\d+)?(?![\w.])/g) ?? []
  return figures
    .map((figure) => figure.replace('.', '').replace(/^0+|0+$/g, ''))
    .filter((digits) => digits.length >= TELLING_DIGITS)
}

/** The true figures: every exact amount, balance and sum of a wallet. */
export async function readTrueFigures(ask: AskOperator): Promise<ReadonlySet<string>> {
  const sums = (columns: readonly string[], from: string) =>
    columns.map(
      (column) => `SELECT toString(sum(${column})) AS figure FROM ${from} GROUP BY wallet`,
    )
  const each = (columns: readonly string[], from: string) =>
    columns.map((column) => `SELECT toString(${column}) AS figure FROM ${from}`)
  const booked = ['bought_lamports', 'sold_lamports', 'open_cost_lamports', 'realized_lamports']
  const traded = ['bought_amount', 'sold_amount', 'open_amount']
  const queries = [
    ...each(['base_amount', 'quote_amount'], 'swaps FINAL'),
    ...each(['amount'], 'transfers FINAL'),
    ...each(['lamports'], 'sol_transfers FINAL'),
    ...each(['lamports'], 'sol_balances FINAL'),
    ...each([...booked, ...traded], 'positions FINAL'),
    ...sums(booked, 'positions FINAL'),
    ...["'in'", "'out'"].flatMap((way) =>
      sums(['lamports'], `sol_transfers FINAL WHERE direction = ${way}`),
    ),
  ]
  const rows = await ask<{ figure: string }>(queries.join(' UNION ALL '))
  return new Set(rows.flatMap(({ figure }) => tellingFigures(figure)))
}

const VIEWS = [
  ...['swaps', 'transfers', 'sol_transfers', 'sol_balances', 'lots', 'disposals', 'positions'],
  ...['positions_at(at = 4000000000)', 'first_buys', 'wallet_metrics', 'watchlist', 'signals'],
  "wallet_positions_at(wallet_number = 1, at = 4000000000, mode = 'raw')",
  ...['swap_changes', 'transfer_changes', 'sol_transfer_changes', 'token_prices', 'pnl_hours'],
]

/** Every row about wallets that an analyst sees, as text. */
export async function readAnalystRows(ask: AskOperator): Promise<string> {
  const rows = await ask<{ row: string }>(
    VIEWS.map((view) => `SELECT toString(tuple(*)) AS row FROM analyst.${view}`).join(
      ' UNION ALL ',
    ),
  )
  return rows.map(({ row }) => row).join('\n')
}

/** A trade as one line, the same for all channels. */
export function tradeLine(trade: Readonly<Record<string, unknown>>): string {
  const { wallet, time, mint, side, amount, quote } = trade
  return [wallet, time, mint, side, amount, quote].join(' ')
}

/** Times of swaps, each as `<alias> <unix seconds>`: as they happened, and as they are served. */
export interface SwapTimes {
  readonly happened: ReadonlySet<string>
  readonly served: ReadonlySet<string>
}

/**
 * The lines of stored swaps as they must be served with `salt`, and as the view `analyst.swaps`
 * shows them; and the times of these swaps.
 */
export async function readSwapLines(
  ask: AskOperator,
  salt: string,
): Promise<{
  readonly due: ReadonlySet<string>
  readonly seen: readonly string[]
  readonly times: SwapTimes
}> {
  // The view is read first, because storage moves on.
  const seen = await ask<Record<string, string>>(
    'SELECT wallet, block_time AS time, base_mint AS mint, side, base_amount AS amount, quote_amount AS quote FROM analyst.swaps',
  )
  const stored = await ask<Record<string, string>>(
    'SELECT slot, tx_index, wallet, event_index, block_time, base_mint, side, base_amount, quote_amount FROM swaps FINAL',
  )
  const perturb = createPerturb(salt)
  const [due, happened, servedTimes] = [new Set<string>(), new Set<string>(), new Set<string>()]
  for (const row of stored) {
    const served = serveSwap(
      {
        slot: Number(row.slot),
        txIndex: Number(row.tx_index),
        wallet: Number(row.wallet),
        eventIndex: Number(row.event_index),
        blockTime: Number(row.block_time),
        baseAmount: BigInt(row.base_amount ?? 0),
        quoteAmount: BigInt(row.quote_amount ?? 0),
      },
      perturb,
    )
    const wallet = `W${row.wallet}`
    happened.add(`${wallet} ${row.block_time}`)
    servedTimes.add(`${wallet} ${served.blockTime}`)
    due.add(
      tradeLine({
        wallet,
        time: served.blockTime,
        mint: row.base_mint,
        side: row.side,
        amount: served.baseAmount,
        quote: served.quoteAmount,
      }),
    )
  }
  return { due, seen: seen.map(tradeLine), times: { happened, served: servedTimes } }
}

/**
 * Returns the times in JSON texts that stand within an object of one wallet, as `<alias> <unix
 * seconds>`. Texts that are not JSON have none.
 */
export function walletTimes(texts: readonly string[]): string[] {
  const found: string[] = []
  const walk = (value: unknown, wallet: unknown): void => {
    if (typeof value !== 'object' || value === null) return
    const own = 'wallet' in value ? value.wallet : wallet
    // A point of profit: its time is a full hour, or that of the newest block of the chain.
    if ('unpriced' in value) return
    for (const [name, item] of Object.entries(value))
      if (typeof item === 'number' && TIME_FIELD.test(name)) found.push(`${own} ${item}`)
      else walk(item, own)
  }
  for (const text of texts) walk(parsed(text), undefined)
  return found
}

/** Fields that hold the time of a wallet's event. `computed_at` is a full minute of the clock. */
const TIME_FIELD = /^(?!computed_at$)(?:\w+_at|\w*time|\w*Time)$/

function parsed(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return null
  }
}
