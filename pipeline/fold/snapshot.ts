import { saltFingerprint } from '../domain/perturbation.ts'
import { addNewest, type Lot, type LotQueue, openLots } from './fifo.ts'
import { isHourOver, type ProfitHour } from './profit-hours.ts'
import type { TradeSums } from './trade-sums.ts'
import {
  createTokenState,
  createWalletState,
  type TokenState,
  type WalletState,
} from './wallet-state.ts'

/**
 * The formats that `decodeSnapshot` reads; `encodeSnapshot` writes the highest. Add a format when
 * it changes and the others can still be read. When the fold gives another state for the same
 * events, leave only a new one: wallets with other snapshots are folded again.
 */
export const SNAPSHOT_FORMATS: readonly number[] = [4]

/**
 * Returns the format to write, and all that can be read, as they are stored: the format in the
 * lowest byte, and above it a fingerprint of the salt. Wallets are therefore folded again after a
 * change of `PRIVACY_SALT`, which changes how they are served.
 */
export function storedFormats(salt: string | null) {
  const fingerprint = saltFingerprint(salt)
  const readable = SNAPSHOT_FORMATS.map((format) => format + 256 * fingerprint)
  return { written: Math.max(...readable), readable }
}

/**
 * Encodes a state as JSON arrays, bigints as decimal strings. Consumed lots and hours that are over
 * are left out. So are pending changes: write their rows first.
 */
export function encodeSnapshot(state: WalletState): string {
  const tokens = [...state.tokens.values()]
  let newestTime = 0
  for (const { lastTradeTime } of tokens) newestTime = Math.max(newestTime, lastTradeTime ?? 0)
  return JSON.stringify([
    state.wallet,
    state.revision,
    COUNTS.map((field) => state[field]),
    SUMS.map((field) => state[field].toString()),
    state.balance?.toString() ?? null,
    state.hours,
    tokens.map((token) => encodeToken(token, newestTime)),
  ])
}

/** Decodes a snapshot of one of `SNAPSHOT_FORMATS`. */
export function decodeSnapshot(text: string): WalletState {
  // The cast is safe: `encodeSnapshot` wrote the text.
  const [wallet, revision, counts, sums, balance, hours, tokens] = JSON.parse(text) as EncodedState
  const state = createWalletState(wallet, revision)
  for (const [hour, transactions] of hours.entries()) state.hours[hour] = transactions
  state.balance = balance === null ? null : BigInt(balance)
  for (const encoded of tokens) {
    const token = decodeToken(encoded)
    state.tokens.set(token.mint, token)
  }
  COUNTS.forEach((field, index) => {
    state[field] = counts[index] ?? 0
  })
  SUMS.forEach((field, index) => {
    state[field] = BigInt(sums[index] ?? 0)
  })
  return state
}

const COUNTS = [
  'events',
  'slot',
  'txIndex',
  'eventIndex',
  'balances',
  'balanceSlot',
  'balanceTxIndex',
  'buys',
  'sells',
  'transfersIn',
  'transfersOut',
  'uniqueTokensTraded',
  'openTokens',
  'tokensWon',
  'tokensLost',
  'tokensSoldValued',
  'holdingSecondsSum',
  'holdingMatches',
  'exitSecondsSum',
  'exitTokens',
  'quickSells',
  'soldMoreThanBought',
] as const

const SUMS = [
  'pnl',
  'boughtLamports',
  'soldLamports',
  'investedOpen',
  'receivedLamports',
  'sentLamports',
] as const

type EncodedState = [
  number,
  number,
  number[],
  string[],
  string | null,
  number[],
  ReturnType<typeof encodeToken>[],
]

function encodeToken(token: TokenState, newestTime: number) {
  return [
    token.mint,
    token.decimals,
    [
      token.buys,
      token.sells,
      token.firstBuyTime,
      token.firstTradeTime,
      token.lastTradeTime,
      token.valuedSells,
      token.exitSeconds,
    ],
    [
      token.bought,
      token.sold,
      token.boughtLamports,
      token.soldLamports,
      token.openAmount,
      token.openCost,
      token.realized,
    ].map(String),
    openLots(token).map(encodeLot),
    token.served === null ? null : encodeServed(token.served),
    token.servedLots === null ? null : openLots(token.servedLots).map(encodeLot),
    token.strictLots === null ? null : openLots(token.strictLots).map(encodeLot),
    token.profitHours.filter((sums) => !isHourOver(sums, newestTime)).map(encodeHour),
  ] as const
}

function decodeToken(encoded: ReturnType<typeof encodeToken>): TokenState {
  const [mint, decimals, counts, sums, lots, served, servedLots, strictLots, hours] = encoded
  const [buys, sells, firstBuyTime, firstTradeTime, lastTradeTime, valuedSells, exitSeconds] =
    counts
  const sum = (index: number) => decodeInteger(sums[index] ?? '0')
  const token = createTokenState(mint, decimals)
  token.buys = buys ?? 0
  token.sells = sells ?? 0
  token.bought = sum(0)
  token.sold = sum(1)
  token.boughtLamports = sum(2)
  token.soldLamports = sum(3)
  token.firstBuyTime = firstBuyTime ?? null
  token.firstTradeTime = firstTradeTime ?? null
  token.lastTradeTime = lastTradeTime ?? null
  token.openAmount = sum(4)
  token.openCost = sum(5)
  token.realized = sum(6)
  token.valuedSells = valuedSells ?? 0
  token.exitSeconds = exitSeconds ?? null
  token.served = served === null ? null : decodeServed(served)
  addLots(token, lots)
  if (servedLots !== null) token.servedLots = addLots({ oldest: null, newest: null }, servedLots)
  if (strictLots !== null) token.strictLots = addLots({ oldest: null, newest: null }, strictLots)
  token.profitHours = hours.map(decodeHour)
  return token
}

function addLots(queue: LotQueue, lots: readonly ReturnType<typeof encodeLot>[]): LotQueue {
  for (const lot of lots) addNewest(queue, decodeLot(lot))
  return queue
}

function encodeHour(sums: ProfitHour) {
  const { hour, trades, valuedSells, volume, realized, strictRealized } = sums
  return [[hour, trades, valuedSells], [volume, realized, strictRealized].map(String)] as const
}

function decodeHour([counts, sums]: ReturnType<typeof encodeHour>): ProfitHour {
  const [hour = 0, trades = 0, valuedSells = 0] = counts
  const [volume = 0n, realized = 0n, strictRealized = 0n] = sums.map(BigInt)
  return { hour, trades, valuedSells, volume, realized, strictRealized, dirty: false }
}

function encodeServed(served: TradeSums) {
  const { bought, sold, boughtLamports, soldLamports } = served
  return [
    [bought, sold, boughtLamports, soldLamports].map(String),
    [served.firstBuyTime, served.firstTradeTime, served.lastTradeTime],
  ] as const
}

function decodeServed([sums, times]: ReturnType<typeof encodeServed>): TradeSums {
  const [bought = 0n, sold = 0n, boughtLamports = 0n, soldLamports = 0n] = sums.map(BigInt)
  const [firstBuyTime = null, firstTradeTime = null, lastTradeTime = null] = times
  return { bought, sold, boughtLamports, soldLamports, firstBuyTime, firstTradeTime, lastTradeTime }
}

/**
 * Decodes an integer, sharing one bigint in memory for zeros and for equal amounts, which are most
 * of a state.
 */
function decodeInteger(text: string, equal: { text: string; value: bigint } | null = null): bigint {
  return text === '0' ? 0n : text === equal?.text ? equal.value : BigInt(text)
}

function encodeLot(lot: Lot) {
  return [
    lot.slot,
    lot.txIndex,
    lot.eventIndex,
    lot.time,
    lot.origin === 'buy' ? 1 : 0,
    String(lot.amount),
    String(lot.cost),
    String(lot.left),
    String(lot.leftCost),
    String(lot.quickSold),
  ] as const
}

function decodeLot(encoded: ReturnType<typeof encodeLot>): Lot {
  const [slot, txIndex, eventIndex, time, bought, amount, cost, left, leftCost, quickSold] = encoded
  const whole = { text: amount, value: decodeInteger(amount) }
  const wholeCost = { text: cost, value: decodeInteger(cost) }
  return {
    slot,
    txIndex,
    eventIndex,
    time,
    origin: bought === 1 ? 'buy' : 'transfer',
    amount: whole.value,
    cost: wholeCost.value,
    left: decodeInteger(left, whole),
    leftCost: decodeInteger(leftCost, wholeCost),
    quickSold: decodeInteger(quickSold),
    dirty: false,
    next: null,
  }
}
