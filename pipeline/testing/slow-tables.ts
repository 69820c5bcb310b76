import type { BalanceRecord, Swap, TokenAccountLink, WalletEvent } from '../domain/event.ts'
import { compareEventKeys } from '../domain/event-key.ts'
import { type SlowMatch, slowBooks, slowMatches, slowToken } from './slow-books.ts'
import { type SlowEvent, slowEvent, slowValue } from './slow-events.ts'
import { slowScore } from './slow-score.ts'

/**
 * A row by its columns, integers as numbers or bigints. Versions, insert times, `computed_at` and
 * `late` are left out (rule C19).
 */
export type SlowRow = Readonly<Record<string, SlowValue>>
type SlowValue = string | number | bigint | boolean | null | readonly SlowRow[]

/**
 * History of the tracked wallets `W1` to `W<wallets>`: each event once, in any order, each swap
 * with its price; each balance record and token link once.
 */
export interface SlowInputs {
  readonly wallets: number
  readonly events: readonly WalletEvent[]
  readonly balances: readonly BalanceRecord[]
  readonly links: readonly TokenAccountLink[]
}

/** Whole tables by name. Rows are in no order. */
export type SlowTables = Record<SlowTableName, readonly SlowRow[]>
/** The tables that `slowTables` computes. */
export type SlowTableName =
  | 'swaps'
  | 'transfers'
  | 'sol_transfers'
  | 'sol_balances'
  | 'token_links'
  | 'lots'
  | 'disposals'
  | 'positions'
  | 'wallet_metrics'
  | 'first_buys'
  | 'profit_hours'

/**
 * Returns what every table must hold after a history (rules of sections A and C). It is a second,
 * slow implementation, written to be read, which carries no state from one event to the next. It
 * shares nothing with the code under test but the types of `domain`.
 */
export function slowTables({ wallets, events, balances, links }: SlowInputs): SlowTables {
  const ordered = [...events].sort(compareEventKeys)
  const numbers = Array.from({ length: wallets }, (_, index) => index + 1)
  const books = numbers.map((wallet) => ({
    wallet,
    history: ordered.filter((event) => event.wallet === wallet).map(slowEvent),
    balances: balances.filter((record) => record.wallet === wallet),
  }))
  const tokens = books.flatMap(({ wallet, history }) =>
    mintsOf(history).map((mint) => {
      const own = history.filter((event) => event.mint === mint)
      return { wallet, mint, history: own, token: slowToken(own) }
    }),
  )
  return {
    swaps: ordered.flatMap((event) => (event.kind === 'swap' ? [swapRow(event)] : [])),
    transfers: ordered.flatMap((event) =>
      event.kind === 'token_transfer'
        ? [
            {
              ...eventColumns(event),
              direction: event.direction,
              mint: event.mint,
              amount: event.amount,
              decimals: event.decimals,
            },
          ]
        : [],
    ),
    sol_transfers: ordered.flatMap((event) =>
      event.kind === 'sol_transfer'
        ? [{ ...eventColumns(event), direction: event.direction, lamports: event.lamports }]
        : [],
    ),
    sol_balances: balances.map((record) => ({
      wallet: record.wallet,
      slot: record.slot,
      tx_index: record.txIndex,
      block_time: record.blockTime,
      lamports: record.lamports,
      lamports_before: record.lamportsBefore,
    })),
    token_links: links.map((link) => ({
      wallet: link.wallet,
      account: link.account,
      slot: link.slot,
      tx_index: link.txIndex,
      block_time: link.blockTime,
      mint: link.mint,
      amount_before: link.before,
      amount_after: link.after,
    })),
    lots: tokens.flatMap(lotRows),
    disposals: tokens.flatMap(disposalRows),
    positions: tokens.map(positionRow),
    wallet_metrics: books.map(metricsRow),
    first_buys: tokens.flatMap(({ wallet, mint }) => {
      const first = ordered.find(
        (e) => e.kind === 'swap' && e.side === 'buy' && e.wallet === wallet && e.baseMint === mint,
      )
      return first?.kind === 'swap' ? [firstBuyRow(first)] : []
    }),
    profit_hours: tokens.flatMap(profitHourRows),
  }
}

interface Books {
  readonly wallet: number
  readonly history: readonly SlowEvent[]
  readonly balances: readonly BalanceRecord[]
}

interface Token {
  readonly wallet: number
  readonly mint: string
  readonly history: readonly SlowEvent[]
  readonly token: ReturnType<typeof slowToken>
}

const sum = (values: readonly bigint[]) => values.reduce((a, b) => a + b, 0n)

function mintsOf(history: readonly SlowEvent[]): string[] {
  return [...new Set(history.map((event) => event.mint))].filter((mint) => mint !== '')
}

function eventColumns(event: WalletEvent) {
  return {
    slot: event.slot,
    tx_index: event.txIndex,
    wallet: event.wallet,
    event_index: event.eventIndex,
    block_time: event.blockTime,
    signature: event.signature,
  }
}

function swapRow(swap: Swap): SlowRow {
  return {
    ...eventColumns(swap),
    side: swap.side,
    base_mint: swap.baseMint,
    base_amount: swap.baseAmount,
    base_decimals: swap.baseDecimals,
    quote_mint: swap.quoteMint,
    quote_amount: swap.quoteAmount,
    program: swap.program,
    program_id: swap.programId,
    pool: swap.pool ?? '',
    confidence: swap.confidence,
    quote_mismatch: swap.quoteMismatch,
    fee_lamports: swap.feeLamports,
    sol_price_usd_e9: swap.solPriceUsdE9,
    value_lamports: slowValue(swap),
  }
}

/** Row of `first_buys`, from which the entry market cap is computed (rule C15). */
function firstBuyRow(buy: Swap): SlowRow {
  return {
    mint: buy.baseMint,
    wallet: buy.wallet,
    slot: buy.slot,
    tx_index: buy.txIndex,
    event_index: buy.eventIndex,
    block_time: buy.blockTime,
    amount: buy.baseAmount,
    value_lamports: slowValue(buy),
    sol_price_usd_e9: buy.solPriceUsdE9,
  }
}

function lotRows({ wallet, mint, history, token }: Token): SlowRow[] {
  return history
    .filter((e) => e.kind === 'buy' || e.kind === 'token_in')
    .map((lot) => {
      const given = token.matches.filter((match) => match.lot === lot)
      const cost = lot.value ?? 0n
      const quick = given.filter(
        ({ taker }) => taker.kind === 'sell' && taker.blockTime - lot.blockTime <= 15,
      )
      return {
        wallet,
        mint,
        slot: lot.slot,
        tx_index: lot.txIndex,
        event_index: lot.eventIndex,
        block_time: lot.blockTime,
        origin: originOf(lot),
        amount: lot.amount,
        cost_lamports: cost,
        left_amount: lot.amount - sum(given.map((match) => match.amount)),
        left_cost_lamports: cost - sum(given.map((match) => match.cost)),
        quick_sold_amount: lot.kind === 'buy' ? sum(quick.map((match) => match.amount)) : 0n,
      }
    })
}

function originOf(lot: SlowEvent): string {
  return lot.kind === 'buy' ? 'buy' : 'transfer'
}

function disposalRows({ wallet, mint, token }: Token): SlowRow[] {
  return token.matches.map(({ lot, taker, amount, cost, proceeds }) => ({
    wallet,
    mint,
    slot: taker.slot,
    tx_index: taker.txIndex,
    event_index: taker.eventIndex,
    lot_slot: lot.slot,
    lot_tx_index: lot.txIndex,
    lot_event_index: lot.eventIndex,
    kind: taker.kind === 'sell' ? 'sell' : 'transfer_out',
    block_time: taker.blockTime,
    lot_time: lot.blockTime,
    lot_origin: originOf(lot),
    amount,
    cost_lamports: cost,
    proceeds_lamports: proceeds,
    profit_lamports: proceeds === null ? null : proceeds - cost,
  }))
}

/** Rows of `profit_hours` without a salt: each hour looks at all matches again (rules L6, L10). */
function profitHourRows({ wallet, mint, history, token }: Token): SlowRow[] {
  const swaps = history.filter((e) => e.kind === 'buy' || e.kind === 'sell')
  const hourOf = (e: SlowEvent) => Math.floor(e.blockTime / 3600) * 3600
  const profitIn = (hour: number, matches: readonly SlowMatch[]) =>
    sum(
      matches
        .filter(({ taker }) => taker.kind === 'sell' && hourOf(taker) === hour)
        .map(({ proceeds, cost }) => (proceeds === null ? 0n : proceeds - cost)),
    )
  return [...new Set(swaps.map(hourOf))].map((hour) => {
    const ofHour = swaps.filter((e) => hourOf(e) === hour)
    return {
      wallet,
      hour,
      mint,
      trades: ofHour.length,
      valued_sells: ofHour.filter((e) => e.kind === 'sell' && e.value !== null).length,
      volume_lamports: sum(ofHour.map((e) => e.value ?? 0n)),
      realized_lamports: profitIn(hour, token.matches),
      strict_realized_lamports: profitIn(hour, slowMatches(swaps)),
    }
  })
}

function positionRow({ wallet, mint, history, token }: Token): SlowRow {
  const traded = {
    bought_amount: token.bought,
    sold_amount: token.sold,
    bought_lamports: token.boughtLamports,
    sold_lamports: token.soldLamports,
    first_buy_time: token.firstBuy?.blockTime ?? null,
    first_trade_time: token.firstTrade?.blockTime ?? null,
    last_trade_time: token.lastTrade?.blockTime ?? null,
  }
  // Without PRIVACY_SALT the served figures are the true ones (rule I2).
  const served = Object.entries(traded).map(([name, value]) => [`served_${name}`, value])
  return {
    wallet,
    mint,
    decimals: history[0]?.decimals ?? 0,
    buys: token.buys,
    sells: token.sells,
    ...traded,
    ...Object.fromEntries(served),
    open_amount: token.open,
    open_cost_lamports: token.openCost,
    realized_lamports: token.realized,
    valued_sells: token.valuedSells,
    exit_seconds: token.exit,
  }
}

/** The row of `wallet_metrics` of one wallet, of its own events, in any order, and balances. */
export function slowMetricsRow(
  wallet: number,
  events: readonly WalletEvent[],
  balances: readonly BalanceRecord[],
): SlowRow {
  const history = [...events].sort(compareEventKeys).map(slowEvent)
  return metricsRow({ wallet, history, balances })
}

function metricsRow({ wallet, history, balances }: Books): SlowRow {
  const books = slowBooks(history)
  const newest = history.at(-1)
  const balance = [...balances]
    .sort((a, b) => a.slot - b.slot || a.txIndex - b.txIndex)
    .at(-1)?.lamports
  const { status, scoreE2 } = slowScore({
    ...books,
    balance: balance ?? null,
    trades: books.buys + books.sells,
  })
  return {
    wallet,
    status,
    score_e2: scoreE2,
    sol_balance_lamports: balance ?? null,
    pnl_lamports: books.pnl,
    bought_lamports: books.bought,
    sold_lamports: books.sold,
    invested_open_lamports: books.investedOpen,
    unrealized_token_count: books.unrealizedTokens,
    buys: books.buys,
    sells: books.sells,
    transfers_in: books.transfersIn,
    transfers_out: books.transfersOut,
    received_lamports: books.received,
    sent_lamports: books.sent,
    unique_tokens_traded: books.uniqueTokens,
    tokens_won: books.won,
    tokens_lost: books.lost,
    tokens_sold_valued: books.soldValued,
    holding_seconds_sum: books.holdingSeconds,
    holding_matches: books.holdingMatches,
    exit_seconds_sum: books.exitSeconds,
    exit_tokens: books.exitTokens,
    quick_sells: books.quickSells,
    sold_more_than_bought: books.soldMore,
    active_times: activeTimes(books.hours),
    events: history.length,
    slot: newest?.slot ?? 0,
    tx_index: newest?.txIndex ?? 0,
    event_index: newest?.eventIndex ?? 0,
  }
}

/** Takes the busiest hour three times, the earliest among equals (rule C11). */
function activeTimes(hours: readonly number[]): SlowRow[] {
  const left = hours.map((count, hour) => ({ hour_utc: hour, tx_count: count }))
  return [1, 2, 3].flatMap(() => {
    const most = Math.max(...left.map((hour) => hour.tx_count))
    const index = left.findIndex((hour) => hour.tx_count === most)
    return most > 0 ? left.splice(index, 1) : []
  })
}
