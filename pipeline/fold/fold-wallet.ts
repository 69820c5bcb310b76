import type { Perturb } from '../domain/perturbation.ts'
import { addNewest, createLot, type Lot, splitProceeds, takeOldest } from './fifo.ts'
import { type FoldEvent, serveFoldEvent } from './fold-event.ts'
import { addToProfitHour, transferServedLots } from './profit-hours.ts'
import { addTrade, createTradeSums } from './trade-sums.ts'
import { createTokenState, isBeyond, type TokenState, type WalletState } from './wallet-state.ts'

/** Seconds after a buy within which selling half of it makes it a quick sell (rule C9). */
const QUICK_SECONDS = 15

/**
 * Folds one event of the wallet into its state, in place (rules C2 to C11). With `perturb`, also
 * folds its served form (rule I2).
 *
 * Events come in event-key order, each once; anything else is a bug of the caller and throws. Every
 * metric is updated incrementally, so an event touches only its own token.
 */
export function foldEvent(
  state: WalletState,
  event: FoldEvent,
  perturb: Perturb | null = null,
): void {
  if (!isBeyond(state, event)) throw new Error('events are folded in event-key order, each once')
  if (event.slot !== state.slot || event.txIndex !== state.txIndex) {
    const hour = Math.floor(event.blockTime / 3600) % 24
    state.hours[hour] = (state.hours[hour] ?? 0) + 1
  }
  state.slot = event.slot
  state.txIndex = event.txIndex
  state.eventIndex = event.eventIndex
  state.events += 1
  state.changes.metrics = true
  switch (event.kind) {
    case 'buy':
      foldBuy(state, event)
      serve(state, event, perturb, 0n)
      break
    case 'sell':
      serve(state, event, perturb, foldSell(state, event))
      break
    case 'token_in':
      state.transfersIn += 1
      transferServedLots(tokenOf(state, event), event, perturb !== null)
      pushLot(state, tokenOf(state, event), createLot(event, 'transfer', 0n))
      break
    case 'token_out':
      state.transfersOut += 1
      transferServedLots(tokenOf(state, event), event, perturb !== null)
      foldTransferOut(state, event)
      break
    case 'sol_in':
      state.receivedLamports += event.amount
      break
    case 'sol_out':
      state.sentLamports += event.amount
  }
}

/**
 * Folds a balance record. Returns whether it counts: only the newest by slot and transaction index
 * does (rule B14).
 */
export function foldBalance(
  state: WalletState,
  record: { readonly slot: number; readonly txIndex: number; readonly lamports: bigint },
): boolean {
  const beyond = record.slot - state.balanceSlot || record.txIndex - state.balanceTxIndex
  if (beyond <= 0) return false
  state.balances += 1
  state.balanceSlot = record.slot
  state.balanceTxIndex = record.txIndex
  state.balance = record.lamports
  state.changes.metrics = true
  return true
}

function foldBuy(state: WalletState, event: FoldEvent): void {
  const token = tradedTokenOf(state, event)
  const soldMore = token.sold > token.bought
  if (token.buys === 0) state.changes.firstBuys.push(event)
  token.buys += 1
  state.buys += 1
  addTrade(token, event)
  if (soldMore && token.sold <= token.bought) state.soldMoreThanBought -= 1
  if (event.value !== null) state.boughtLamports += event.value
  if (token.exitSeconds !== null && !isAlmostOut(token)) {
    state.exitTokens -= 1
    state.exitSecondsSum -= token.exitSeconds
    token.exitSeconds = null
  }
  pushLot(state, token, createLot(event, 'buy', event.value ?? 0n))
}

/** Returns the realised profit in lamports; 0 for a sell without a value. */
function foldSell(state: WalletState, event: FoldEvent): bigint {
  const { amount, value, blockTime } = event
  const token = tradedTokenOf(state, event)
  const soldMore = token.sold > token.bought
  token.sells += 1
  state.sells += 1
  addTrade(token, event)
  if (!soldMore && token.sold > token.bought) state.soldMoreThanBought += 1

  const parts = takeOldest(token, amount)
  const proceeds = value === null ? null : splitProceeds(value, amount, parts)
  let profit = 0n
  parts.forEach((part, index) => {
    const { lot } = part
    dispose(state, token, event, 'sell', part, proceeds?.[index] ?? null)
    if (proceeds) profit += (proceeds[index] ?? 0n) - part.cost
    if (lot.origin !== 'buy') return
    state.holdingSecondsSum += blockTime - lot.time
    state.holdingMatches += 1
    if (blockTime - lot.time > QUICK_SECONDS) return
    const wasQuick = lot.quickSold * 2n >= lot.amount
    lot.quickSold += part.amount
    if (!wasQuick && lot.quickSold * 2n >= lot.amount) state.quickSells += 1
  })
  if (value !== null) {
    state.soldLamports += value
    countOutcome(state, token, -1)
    token.valuedSells += 1
    token.realized += profit
    state.pnl += profit
    countOutcome(state, token, 1)
  }
  if (token.exitSeconds === null && token.firstBuyTime !== null && isAlmostOut(token)) {
    token.exitSeconds = blockTime - token.firstBuyTime
    state.exitTokens += 1
    state.exitSecondsSum += token.exitSeconds
  }
  return profit
}

/** Folds the served form of a swap. `profit`: what the swap itself realised. */
function serve(
  state: WalletState,
  event: FoldEvent,
  perturb: Perturb | null,
  profit: bigint,
): void {
  const token = tokenOf(state, event)
  const served = serveFoldEvent(state.wallet, event, perturb)
  if (served !== event) {
    token.served ??= createTradeSums()
    addTrade(token.served, served)
  }
  addToProfitHour(state, token, event, served, profit)
}

function foldTransferOut(state: WalletState, event: FoldEvent): void {
  const token = tokenOf(state, event)
  for (const part of takeOldest(token, event.amount))
    dispose(state, token, event, 'transfer_out', part, null)
}

/** Whether sold is at least 90% of bought, by swaps so far. */
function isAlmostOut(token: TokenState): boolean {
  return token.sold * 10n >= token.bought * 9n
}

/**
 * Adds the token to (`by` 1) or removes it from (`by` -1) the counts of tokens won, lost and sold
 * at a value (rule C6).
 */
function countOutcome(state: WalletState, token: TokenState, by: 1 | -1): void {
  if (token.valuedSells === 0) return
  state.tokensSoldValued += by
  if (token.realized > 0n) state.tokensWon += by
  else if (token.realized < 0n) state.tokensLost += by
}

function pushLot(state: WalletState, token: TokenState, lot: Lot): void {
  // A lot of zero would divide by zero, and holds nothing.
  if (lot.amount === 0n) return
  if (token.openAmount === 0n) state.openTokens += 1
  token.openAmount += lot.amount
  token.openCost += lot.cost
  state.investedOpen += lot.cost
  addNewest(token, lot)
  state.changes.lots.push({ mint: token.mint, lot })
}

function dispose(
  state: WalletState,
  token: TokenState,
  event: FoldEvent,
  kind: 'sell' | 'transfer_out',
  part: { readonly lot: Lot; readonly amount: bigint; readonly cost: bigint },
  proceeds: bigint | null,
): void {
  token.openAmount -= part.amount
  token.openCost -= part.cost
  state.investedOpen -= part.cost
  if (token.openAmount === 0n) state.openTokens -= 1
  if (!part.lot.dirty) {
    part.lot.dirty = true
    state.changes.lots.push({ mint: token.mint, lot: part.lot })
  }
  state.changes.disposals.push({
    lot: part.lot,
    amount: part.amount,
    cost: part.cost,
    mint: token.mint,
    kind,
    slot: event.slot,
    txIndex: event.txIndex,
    eventIndex: event.eventIndex,
    time: event.blockTime,
    proceeds,
  })
}

function tokenOf(state: WalletState, event: FoldEvent): TokenState {
  let token = state.tokens.get(event.mint)
  if (token === undefined) {
    token = createTokenState(event.mint, event.decimals)
    state.tokens.set(event.mint, token)
  }
  if (!token.dirty) {
    token.dirty = true
    state.changes.tokens.push(token)
  }
  return token
}

function tradedTokenOf(state: WalletState, event: FoldEvent): TokenState {
  const token = tokenOf(state, event)
  if (token.firstTradeTime === null) state.uniqueTokensTraded += 1
  return token
}
