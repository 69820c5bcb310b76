import type { Lot, LotPart, LotQueue } from './fifo.ts'
import type { FoldEvent } from './fold-event.ts'
import type { ProfitHour } from './profit-hours.ts'
import type { TradeSums } from './trade-sums.ts'

/**
 * The state of one wallet: everything needed to fold its next event and to give its metrics,
 * without looking back. `foldEvent` changes it in place. It is a function of the folded events, in
 * event-key order. Sums are in lamports.
 */
export interface WalletState {
  readonly wallet: number
  /** Number of times the wallet was refolded from its first event. */
  readonly revision: number
  /** Number of folded events, and event key of the newest; slot -1 before the first. */
  events: number
  slot: number
  txIndex: number
  eventIndex: number
  /**
   * Number of balance records, slot and transaction index of the newest, and its lamports; null
   * before the first (rule B14).
   */
  balances: number
  balanceSlot: number
  balanceTxIndex: number
  balance: bigint | null
  pnl: bigint
  boughtLamports: bigint
  soldLamports: bigint
  investedOpen: bigint
  receivedLamports: bigint
  sentLamports: bigint
  buys: number
  sells: number
  transfersIn: number
  transfersOut: number
  uniqueTokensTraded: number
  openTokens: number
  tokensWon: number
  tokensLost: number
  tokensSoldValued: number
  holdingSecondsSum: number
  holdingMatches: number
  exitSecondsSum: number
  exitTokens: number
  quickSells: number
  soldMoreThanBought: number
  /** Distinct transactions by UTC hour of the day (rule C11). */
  readonly hours: number[]
  readonly tokens: Map<string, TokenState>
  /** Changes since rows were last written. */
  changes: StateChanges
}

/** The position of a wallet in one token. Raw units, lamports, unix seconds. */
export interface TokenState extends LotQueue, TradeSums {
  readonly mint: string
  readonly decimals: number
  buys: number
  sells: number
  /** Amount and cost of the open lots. */
  openAmount: bigint
  openCost: bigint
  realized: bigint
  valuedSells: number
  /** Sums of trades in their served form; null while they are served as they happened. */
  served: TradeSums | null
  /**
   * Open lots of the served swaps and of the transfers; null while swaps are served as they
   * happened, because the lots are then those of the position.
   */
  servedLots: LotQueue | null
  /** Open lots of the served swaps alone (rule L6); null while they equal those with transfers. */
  strictLots: LotQueue | null
  /** Sums of the hours to which events may still come. */
  profitHours: readonly ProfitHour[]
  /** Seconds from the first buy to the latest almost full exit; null while not exited (rule C8). */
  exitSeconds: number | null
  /** Whether the position changed since its row was last written. */
  dirty: boolean
}

/** The part of a lot that an event consumed. */
export interface Disposal extends LotPart {
  readonly mint: string
  readonly kind: 'sell' | 'transfer_out'
  readonly slot: number
  readonly txIndex: number
  readonly eventIndex: number
  readonly time: number
  /** Share of the sell's value; null for a transfer and for a sell without a value. */
  readonly proceeds: bigint | null
}

/**
 * The first buy of a token, which gives its entry market cap (rule C15). The state does not keep
 * it, because it never changes.
 */
export type FirstBuy = Pick<
  FoldEvent,
  'mint' | 'slot' | 'txIndex' | 'eventIndex' | 'blockTime' | 'amount' | 'value' | 'solPriceUsdE9'
>

/**
 * Positions, lots and hours that changed, each once, and new first buys and disposals. In the order
 * of the events.
 */
export interface StateChanges {
  readonly tokens: TokenState[]
  readonly firstBuys: FirstBuy[]
  readonly lots: { readonly mint: string; readonly lot: Lot }[]
  readonly disposals: Disposal[]
  readonly profitHours: { readonly mint: string; readonly sums: ProfitHour }[]
  /** Whether any metric changed. */
  metrics: boolean
}

/** Returns the state before the first event. */
export function createWalletState(wallet: number, revision = 0): WalletState {
  return {
    wallet,
    revision,
    events: 0,
    slot: -1,
    txIndex: 0,
    eventIndex: 0,
    balances: 0,
    balanceSlot: -1,
    balanceTxIndex: 0,
    balance: null,
    pnl: 0n,
    boughtLamports: 0n,
    soldLamports: 0n,
    investedOpen: 0n,
    receivedLamports: 0n,
    sentLamports: 0n,
    buys: 0,
    sells: 0,
    transfersIn: 0,
    transfersOut: 0,
    uniqueTokensTraded: 0,
    openTokens: 0,
    tokensWon: 0,
    tokensLost: 0,
    tokensSoldValued: 0,
    holdingSecondsSum: 0,
    holdingMatches: 0,
    exitSecondsSum: 0,
    exitTokens: 0,
    quickSells: 0,
    soldMoreThanBought: 0,
    hours: new Array<number>(24).fill(0),
    tokens: new Map(),
    changes: createChanges(),
  }
}

/** Mints seen recently, so that the positions of one token share one string. */
const mints = new Map<string, string>()
const MAX_MINTS = 200_000

function shared(mint: string): string {
  const known = mints.get(mint)
  if (known !== undefined) return known
  if (mints.size >= MAX_MINTS) mints.clear()
  mints.set(mint, mint)
  return mint
}

/** Returns a position before its first event. */
export function createTokenState(mint: string, decimals: number): TokenState {
  // Every field is written out: an object made with a spread is several times slower to use.
  return {
    oldest: null,
    newest: null,
    mint: shared(mint),
    decimals,
    buys: 0,
    sells: 0,
    bought: 0n,
    sold: 0n,
    boughtLamports: 0n,
    soldLamports: 0n,
    firstBuyTime: null,
    firstTradeTime: null,
    lastTradeTime: null,
    openAmount: 0n,
    openCost: 0n,
    realized: 0n,
    valuedSells: 0,
    served: null,
    servedLots: null,
    strictLots: null,
    profitHours: [],
    exitSeconds: null,
    dirty: false,
  }
}

function createChanges(): StateChanges {
  return { tokens: [], firstBuys: [], lots: [], disposals: [], profitHours: [], metrics: false }
}

/** Returns the changes since the last call, and clears them. */
export function takeChanges(state: WalletState): StateChanges {
  const { changes } = state
  for (const token of changes.tokens) token.dirty = false
  for (const { lot } of changes.lots) lot.dirty = false
  for (const { sums } of changes.profitHours) sums.dirty = false
  state.changes = createChanges()
  return changes
}

/** The event key without the wallet: it orders the events of one wallet. */
export interface WalletPlace {
  readonly slot: number
  readonly txIndex: number
  readonly eventIndex: number
}

/** Whether `place` is after every event folded so far. Any other event is a duplicate or late. */
export function isBeyond(known: WalletPlace, place: WalletPlace): boolean {
  return (
    (place.slot - known.slot ||
      place.txIndex - known.txIndex ||
      place.eventIndex - known.eventIndex) > 0
  )
}
