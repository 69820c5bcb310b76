import type { Lot, LotQueue, Part } from './fifo.ts'
import type { FoldEvent } from './fold-event.ts'
import type { TradeSums } from './trade-sums.ts'

/**
 * The books of one wallet: what is needed to fold its next event and to say its metrics, without looking back. Owned and changed in place by
 * `foldEvent`; everything in it follows from the events folded so far, in event-key order.
 */
export interface WalletState {
  readonly wallet: number
  /** How often the wallet was folded from its beginning again. */
  readonly revision: number
  /** Events folded, and key of the newest; slot -1 before the first. */
  events: number
  slot: number
  txIndex: number
  eventIndex: number
  /** Balance records seen, place of the newest, and its lamports; null before the first (rule B14). */
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
  /** What has changed since rows were last made. */
  changes: Changes
}

/** What a wallet did with one token. Raw units, lamports, unix seconds. */
export interface TokenState extends LotQueue, TradeSums {
  readonly mint: string
  readonly decimals: number
  buys: number
  sells: number
  /** In open lots. */
  openAmount: bigint
  openCost: bigint
  realized: bigint
  valuedSells: number
  /** Null while trades are served as they happened. */
  served: TradeSums | null
  /** Seconds from first buy to the latest almost full exit; null while not exited (rule C8). */
  exitSeconds: number | null
  dirty: boolean
}

/** A part of a lot that an event took. */
export interface Disposal extends Part {
  readonly mint: string
  readonly kind: 'sell' | 'transfer_out'
  readonly slot: number
  readonly txIndex: number
  readonly eventIndex: number
  readonly time: number
  /** Share of the sell's value; null for a transfer and for a sell without a value. */
  readonly proceeds: bigint | null
}

/** The first buy of a token, of which its entry market cap is made (rule C15). Nothing of it is kept in the state: it never changes. */
export type FirstBuy = Pick<
  FoldEvent,
  'mint' | 'slot' | 'txIndex' | 'eventIndex' | 'blockTime' | 'amount' | 'value' | 'solPriceUsdE9'
>

/** Tokens and lots touched (each once), first buys and disposals made, in the order of the events. */
export interface Changes {
  readonly tokens: TokenState[]
  readonly firstBuys: FirstBuy[]
  readonly lots: { readonly mint: string; readonly lot: Lot }[]
  readonly disposals: Disposal[]
  /** Whether anything that metrics show has changed. */
  metrics: boolean
}

/** The books before the first event. */
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

/** Mints seen of late, so that the positions of one token share one text. */
const mints = new Map<string, string>()
const MAX_MINTS = 200_000

function shared(mint: string): string {
  const known = mints.get(mint)
  if (known !== undefined) return known
  if (mints.size >= MAX_MINTS) mints.clear()
  mints.set(mint, mint)
  return mint
}

/** A position before its first event. */
export function createTokenState(mint: string, decimals: number): TokenState {
  // Every field by name: an object made with a spread is several times slower to use.
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
    exitSeconds: null,
    dirty: false,
  }
}

function createChanges(): Changes {
  return { tokens: [], firstBuys: [], lots: [], disposals: [], metrics: false }
}

/** Gives what has changed since the last call, and starts anew. */
export function takeChanges(state: WalletState): Changes {
  const { changes } = state
  for (const token of changes.tokens) token.dirty = false
  for (const { lot } of changes.lots) lot.dirty = false
  state.changes = createChanges()
  return changes
}

/** A place in a wallet's events: the event key without the wallet. */
export interface WalletPlace {
  readonly slot: number
  readonly txIndex: number
  readonly eventIndex: number
}

/** Whether a place is beyond every event folded so far; what is not is either known or late. */
export function isBeyond(known: WalletPlace, place: WalletPlace): boolean {
  return (
    (place.slot - known.slot ||
      place.txIndex - known.txIndex ||
      place.eventIndex - known.eventIndex) > 0
  )
}
