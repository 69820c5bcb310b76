import { MOST_EARLIER_SECONDS } from '../domain/perturbation.ts'
import { addNewest, createLot, type LotQueue, openLots, splitProceeds, takeOldest } from './fifo.ts'
import type { FoldEvent } from './fold-event.ts'
import type { TokenState, WalletState } from './wallet-state.ts'

const HOUR_SECONDS = 3600

/**
 * Trades and realised profit of a position in one hour, in their served form (rules L10, L13).
 * Lamports. Realised profit is that of rule C3, with transfers and by swaps alone (rule L6).
 */
export interface ProfitHour {
  /** Unix seconds at which the hour begins (UTC). */
  readonly hour: number
  trades: number
  /** Sells with a value. */
  valuedSells: number
  volume: bigint
  realized: bigint
  strictRealized: bigint
  /** Whether the sums changed since their row was last written. */
  dirty: boolean
}

/**
 * Adds a swap to the sums of its hour. `served`: the swap as it is served, which is `event` itself
 * without a salt; `profit`: what `event` realised in the true books.
 */
export function addToProfitHour(
  state: WalletState,
  token: TokenState,
  event: FoldEvent,
  served: FoldEvent,
  profit: bigint,
): void {
  if (served !== event) token.servedLots ??= { oldest: null, newest: null }
  const realized = token.servedLots === null ? profit : foldLots(token.servedLots, served)
  const strictRealized = token.strictLots === null ? realized : foldLots(token.strictLots, served)
  joinBooks(token)
  const sums = profitHourAt(token, served.blockTime, event.blockTime)
  sums.trades += 1
  if (served.kind === 'sell' && served.value !== null) sums.valuedSells += 1
  if (served.value !== null) sums.volume += served.value
  if (realized !== 0n) sums.realized += realized
  if (strictRealized !== 0n) sums.strictRealized += strictRealized
  if (sums.dirty) return
  sums.dirty = true
  state.changes.profitHours.push({ mint: token.mint, sums })
}

/**
 * Folds a transfer into the books that differ from the true ones. Call it before the transfer
 * changes the true lots: until a token's first transfer its strict lots are those.
 */
export function transferServedLots(token: TokenState, event: FoldEvent, isSalted: boolean): void {
  if (isSalted) token.servedLots ??= { oldest: null, newest: null }
  token.strictLots ??= copyLots(token.servedLots ?? token)
  if (token.servedLots !== null) foldLots(token.servedLots, event)
}

/** Whether no later event can belong to an hour, given the block time of the newest event. */
export function isHourOver({ hour }: ProfitHour, newestTime: number): boolean {
  return hour + HOUR_SECONDS + MOST_EARLIER_SECONDS <= newestTime
}

/** Books without lots are equal, and what follows adds the same to both. */
function joinBooks(token: TokenState): void {
  if (token.strictLots?.oldest === null && (token.servedLots ?? token).oldest === null)
    token.strictLots = null
}

/**
 * Returns the sums of the hour of `servedTime`. Hours that are over are forgotten: block times do
 * not decrease from one block to the next.
 */
function profitHourAt(token: TokenState, servedTime: number, newestTime: number): ProfitHour {
  const hour = servedTime - (servedTime % HOUR_SECONDS)
  for (const sums of token.profitHours) if (sums.hour === hour) return sums
  const sums: ProfitHour = {
    hour,
    trades: 0,
    valuedSells: 0,
    volume: 0n,
    realized: 0n,
    strictRealized: 0n,
    dirty: false,
  }
  const left = token.profitHours.filter((other) => !isHourOver(other, newestTime))
  token.profitHours = [...left, sums]
  return sums
}

/** Folds an event into lots alone (rules C2 to C4). Returns the realised profit in lamports. */
function foldLots(lots: LotQueue, event: FoldEvent): bigint {
  const { kind, amount, value } = event
  if (kind === 'buy' || kind === 'token_in') {
    const isBuy = kind === 'buy'
    // A lot of zero would divide by zero, and holds nothing.
    if (amount > 0n)
      addNewest(lots, createLot(event, isBuy ? 'buy' : 'transfer', isBuy ? (value ?? 0n) : 0n))
    return 0n
  }
  const parts = takeOldest(lots, amount)
  if (kind !== 'sell' || value === null) return 0n
  let profit = 0n
  for (const share of splitProceeds(value, amount, parts)) profit += share
  for (const part of parts) profit -= part.cost
  return profit
}

function copyLots(lots: LotQueue): LotQueue {
  const copy: LotQueue = { oldest: null, newest: null }
  for (const lot of openLots(lots)) addNewest(copy, { ...lot, next: null })
  return copy
}
