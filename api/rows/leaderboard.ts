import { setImmediate as nextTurn, setTimeout as pause } from 'node:timers/promises'
import { LAMPORTS_PER_SOL, nearestNumber } from '../../pipeline/domain/amount.ts'
import { coarsen } from '../../pipeline/domain/coarsen.ts'
import { MOST_EARLIER_SECONDS } from '../../pipeline/domain/perturbation.ts'
import type { Store } from '../../pipeline/store/store.ts'
import { countHistoryBackfills } from '../../pipeline/store/tables/backfills.ts'
import {
  countWalletsWithHours,
  type PeriodRow,
  readPeriod,
} from '../../pipeline/store/tables/profit-hours.ts'
import type { WalletMetricsRow } from '../../pipeline/store/tables/wallet-metrics.ts'
import type { StoragePosition } from '../storage-position.ts'
import { type RowKey, sortByKeys } from './sort-by-keys.ts'

export const SORTS = ['score', 'pnl', 'winrate', 'trades', 'volume'] as const
export const ORDERS = ['desc', 'asc'] as const
export const STATUSES = ['scored', 'review', 'disqualified'] as const
export const PERIODS = ['7d', '30d', 'all'] as const
export const MODES = ['raw', 'strict'] as const

/** Order and filters of a list of wallets (rule L10). */
export interface RankedList {
  readonly sort: (typeof SORTS)[number]
  readonly order: (typeof ORDERS)[number]
  /** Null: any. */
  readonly status: (typeof STATUSES)[number] | null
  readonly minTrades: number
  readonly period: (typeof PERIODS)[number]
  readonly mode: (typeof MODES)[number]
}

/** A wallet in its place of a list, with its figures of the period. */
export interface RankedWallet {
  readonly wallet: number
  /** From 1. */
  readonly rank: number
  readonly pnlSol: number
  /** Percent; null without a sell that has a value. */
  readonly winrate: number | null
  readonly trades: number
  readonly volumeSol: number
}

/** A stretch of a list. `asOf`: unix seconds at which the period ended; null: no list yet. */
export interface RankedPage {
  readonly asOf: number | null
  readonly total: number
  readonly rows: readonly RankedWallet[]
}

const NO_BOARD: RankedPage = { asOf: null, total: 0, rows: [] }

const HOUR = 3600
const DAY = 86_400
const PERIOD_SECONDS = { '7d': 7 * DAY, '30d': 30 * DAY, all: Number.POSITIVE_INFINITY }

/** Dependencies of a `Leaderboard`. */
export interface LeaderboardDeps {
  readonly store: Store
  readonly position: Pick<StoragePosition, 'stored' | 'walletCount'>
  readonly metricsOf: (wallet: number) => WalletMetricsRow | undefined
  /** Whether there is a `PRIVACY_SALT`: sums are then coarsened (rule L13). */
  readonly isSalted: boolean
  /** How long the figures of a new hour are waited for while there are those of the hour before. */
  readonly patienceMs?: number
}

/**
 * Lists of wallets by their figures of a period (rule L10). The figures of each period are read
 * once an hour, when they are first asked for, and serve every list of that hour. That takes half a
 * minute with 250,000 wallets, so the hour before answers meanwhile.
 */
export class Leaderboard {
  readonly #deps: LeaderboardDeps
  readonly #boards = new Map<string, HourOfBoard>()
  /** Whether this process has seen the history of wallets complete. */
  #isComplete = false
  /** Block time until which an incomplete history is not looked at again. */
  #incompleteUntil = 0

  constructor(deps: LeaderboardDeps) {
    this.#deps = deps
  }

  /** Returns `limit` wallets of a list from `offset` on. */
  async page(list: RankedList, offset: number, limit: number): Promise<RankedPage> {
    const board = await this.#boardOf(list.period)
    if (board === null) return NO_BOARD
    const wallets = await board.list(list)
    const rows = [...wallets.subarray(offset, offset + limit)].map((wallet, at) =>
      board.rank(wallet, offset + at + 1, list.mode),
    )
    return { asOf: board.asOf, total: wallets.length, rows }
  }

  async #boardOf(period: RankedList['period']): Promise<Board | null> {
    const { position, isSalted } = this.#deps
    const stored = position.stored()
    if (stored === null) return null
    // A served time may be so much earlier than its block that it belongs to the hour before.
    const complete = stored.blockTime - (isSalted ? MOST_EARLIER_SECONDS : 0)
    const asOf = complete - (complete % HOUR)
    const known = this.#boards.get(period)
    if (known?.asOf === asOf) return this.#newest(known)
    if (!this.#isComplete && stored.blockTime < this.#incompleteUntil) return null
    const made = this.#make(period, asOf)
    const before = known?.asOf === asOf - HOUR ? known : null
    const entry: HourOfBoard = { asOf, made, before }
    this.#boards.set(period, entry)
    const forget = () => {
      if (this.#boards.get(period) !== entry) return
      if (before === null) this.#boards.delete(period)
      else this.#boards.set(period, before)
    }
    made.then((board) => {
      entry.before = null
      if (board !== null) return
      forget()
      this.#incompleteUntil = stored.blockTime + INCOMPLETE_SECONDS
    }, forget)
    return this.#newest(entry)
  }

  /** The board of an hour, or of the hour before if that one takes long. */
  #newest({ made, before }: HourOfBoard): Promise<Board | null> {
    if (before === null) return made
    const { patienceMs = PATIENCE_MS } = this.#deps
    return Promise.race([made, pause(patienceMs).then(() => before.made)])
  }

  /** Returns null while the history of wallets is not complete. */
  async #make(period: RankedList['period'], asOf: number): Promise<Board | null> {
    const { store, position, metricsOf, isSalted } = this.#deps
    const wallets = position.walletCount()
    const board = new Board(asOf, wallets, isSalted)
    const from = Math.max(0, asOf - PERIOD_SECONDS[period])
    if (!this.#isComplete && isMany(await countHistoryBackfills(store), wallets)) return null
    let traded = 0
    for (let first = 1; first <= wallets; first += WALLETS_AT_ONCE) {
      const last = Math.min(wallets, first + WALLETS_AT_ONCE - 1)
      for (const row of await readPeriod(store, { first, last, from, to: asOf })) board.add(row)
      for (let wallet = first; wallet <= last; wallet++) {
        const metrics = metricsOf(wallet)
        if (metrics === undefined) continue
        board.addMetrics(wallet, metrics)
        if (metrics.buys !== '0' || metrics.sells !== '0') traded += 1
      }
      await nextTurn()
    }
    // After an upgrade the hours of the past are there once their wallets are folded again.
    if (!this.#isComplete && isMany(traded - (await countWalletsWithHours(store)), wallets))
      return null
    this.#isComplete = true
    return board
  }
}

const PATIENCE_MS = 1000

/** The board of a period in one hour. */
interface HourOfBoard {
  readonly asOf: number
  readonly made: Promise<Board | null>
  /** That of the hour before, until this one is made. */
  before: HourOfBoard | null
}

/** Seconds of the chain after which an incomplete history is looked at again. */
const INCOMPLETE_SECONDS = 10

/** Wallets of one query: a bound of its time and of the memory of the server. */
const WALLETS_AT_ONCE = 2000

/** Sorted and filtered lists of a board that are kept, each of 4 bytes a wallet. */
const MOST_LISTS = 16

/** Whether more than one in a hundred wallets lack something. */
const isMany = (lacking: number, wallets: number) => lacking * 100 > wallets

/** The figures of all wallets in one period, by wallet, as they are served. */
class Board {
  readonly asOf: number
  readonly #isSalted: boolean
  readonly #trades: Float64Array
  readonly #volume: Float64Array
  readonly #profit: Readonly<Record<RankedList['mode'], Float64Array>>
  /** Percent; NaN: none. */
  readonly #winrate: Readonly<Record<RankedList['mode'], Float64Array>>
  /** Score x 100; NaN: none. */
  readonly #score: Float64Array
  /** Place in `STATUSES`. */
  readonly #status: Uint8Array
  readonly #lists = new Map<string, Promise<Uint32Array>>()

  constructor(asOf: number, wallets: number, isSalted: boolean) {
    this.asOf = asOf
    this.#isSalted = isSalted
    const zeros = () => new Float64Array(wallets + 1)
    const nones = () => zeros().fill(Number.NaN)
    this.#trades = zeros()
    this.#volume = zeros()
    this.#profit = { raw: zeros(), strict: zeros() }
    this.#winrate = { raw: nones(), strict: nones() }
    this.#score = nones()
    this.#status = new Uint8Array(wallets + 1).fill(STATUSES.indexOf('review'))
  }

  add(row: PeriodRow): void {
    const { wallet } = row
    const inSol = (text: string) => {
      const lamports = BigInt(text)
      return nearestNumber(this.#isSalted ? coarsen(lamports) : lamports, LAMPORTS_PER_SOL)
    }
    const percent = (won: number) =>
      row.tokens_sold === 0
        ? Number.NaN
        : nearestNumber(BigInt(won) * 100n, BigInt(row.tokens_sold))
    this.#trades[wallet] = row.trades
    this.#volume[wallet] = inSol(row.volume_lamports)
    this.#profit.raw[wallet] = inSol(row.profit_lamports)
    this.#profit.strict[wallet] = inSol(row.strict_profit_lamports)
    this.#winrate.raw[wallet] = percent(row.tokens_won)
    this.#winrate.strict[wallet] = percent(row.strict_tokens_won)
  }

  addMetrics(wallet: number, { score_e2, status }: WalletMetricsRow): void {
    this.#score[wallet] = score_e2 ?? Number.NaN
    this.#status[wallet] = STATUSES.indexOf(status)
  }

  rank(wallet: number, rank: number, mode: RankedList['mode']): RankedWallet {
    const winrate = this.#winrate[mode][wallet]!
    return {
      wallet,
      rank,
      pnlSol: this.#profit[mode][wallet]!,
      winrate: Number.isNaN(winrate) ? null : winrate,
      trades: this.#trades[wallet]!,
      volumeSol: this.#volume[wallet]!,
    }
  }

  /** Returns the wallets of a list in its order. */
  list(list: RankedList): Promise<Uint32Array> {
    const { sort, order, status, minTrades, mode } = list
    const key = [sort, order, status, minTrades, mode].join(' ')
    const known = this.#lists.get(key)
    const made = known ?? this.#makeList(list)
    this.#lists.delete(key)
    this.#lists.set(key, made) // the most recently used is the last
    for (const oldest of this.#lists.keys()) {
      if (this.#lists.size <= MOST_LISTS) break
      this.#lists.delete(oldest)
    }
    return made
  }

  async #makeList({ sort, order, status, minTrades, mode }: RankedList): Promise<Uint32Array> {
    const values = {
      score: this.#score,
      pnl: this.#profit[mode],
      winrate: this.#winrate[mode],
      trades: this.#trades,
      volume: this.#volume,
    }[sort]
    const of = status === null ? null : STATUSES.indexOf(status)
    const wallets = Uint32Array.from({ length: values.length - 1 }, (_, at) => at + 1).filter(
      (wallet) =>
        this.#trades[wallet]! >= minTrades && (of === null || this.#status[wallet] === of),
    )
    // Wallets with equal values stay in the order of their numbers.
    await sortByKeys(wallets, orderKeys(values, order))
    return wallets
  }
}

/** Keys that sort doubles by value, NaN last. */
function orderKeys(values: Float64Array, order: RankedList['order']): RowKey[] {
  const double = new DataView(new ArrayBuffer(8))
  const half = (offset: 0 | 4) => (row: number) => {
    const value = values[row]!
    if (Number.isNaN(value)) return 0xffff_ffff
    double.setFloat64(0, value)
    const bits = double.getUint32(offset)
    // The bits of positive doubles ascend; those of negative ones descend, below them.
    const ascending = value < 0 ? ~bits : offset === 0 ? bits ^ 0x8000_0000 : bits
    return (order === 'asc' ? ascending : ~ascending) >>> 0
  }
  return [half(4), half(0)]
}
