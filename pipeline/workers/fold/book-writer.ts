import { stateVersion } from '../../fold/wallet-metrics.ts'
import { type StateChanges, takeChanges, type WalletState } from '../../fold/wallet-state.ts'
import type { Row, Store } from '../../store/store.ts'
import { insertDisposals, insertFirstBuys, insertLots } from '../../store/tables/books.ts'
import { insertPositions } from '../../store/tables/positions.ts'
import { insertProfitHours } from '../../store/tables/profit-hours.ts'
import { insertMetrics } from '../../store/tables/wallet-metrics.ts'
import {
  disposalRow,
  firstBuyRow,
  lotRow,
  metricsRow,
  positionRow,
  profitHourRow,
} from './book-rows.ts'

/** Returns the fencing token of the owner of a wallet's partition (rule K15). */
export type FenceOf = (wallet: number) => number

/** Disposals of one insert of a long refold. About as many lots come with them. */
const DISPOSALS_PER_PART = 2500

/** Collects the changed rows of wallets' books and stores them in the order that recovery needs. */
export class BookWriter {
  readonly #metrics: Row[] = []
  #positions: Row[] = []
  #lots: Row[] = []
  #disposals: Row[] = []
  #firstBuys: Row[] = []
  #profitHours: Row[] = []
  readonly #store: Store
  readonly #computedAt: number
  readonly #isSalted: boolean
  readonly #fenceOf: FenceOf

  /**
   * `computedAt`: unix seconds of the wall clock. `isSalted`: whether there is a `PRIVACY_SALT`
   * (rule I2a).
   */
  constructor(store: Store, fenceOf: FenceOf, computedAt: number, isSalted: boolean) {
    this.#store = store
    this.#computedAt = computedAt
    this.#isSalted = isSalted
    this.#fenceOf = fenceOf
  }

  /** Takes the changes of a state that is complete, and so may be served. */
  add(state: WalletState): void {
    const version = this.#versionOf(state)
    const changes = takeChanges(state)
    this.#addDetails(state.wallet, version, changes)
    for (const token of changes.tokens)
      this.#positions.push(positionRow(state.wallet, version, token))
    if (changes.metrics)
      this.#metrics.push(metricsRow(state, version, this.#computedAt, this.#isSalted))
  }

  /**
   * Bounds memory during a long refold: stores disposals, first buys, hours and consumed lots of a
   * state once there are many. They are final, and an hour that is not gets another row. Open lots,
   * positions and metrics stay as they were until `add` and `store`.
   */
  async addPartial(state: WalletState): Promise<void> {
    if (state.changes.disposals.length < DISPOSALS_PER_PART) return
    const version = this.#versionOf(state)
    const { tokens, firstBuys, lots, disposals, profitHours, metrics } = takeChanges(state)
    const isOpen = ({ lot }: StateChanges['lots'][number]) => lot.left > 0n
    const consumed = lots.filter((change) => !isOpen(change))
    const open = lots.filter(isOpen)
    this.#addDetails(state.wallet, version, {
      tokens,
      firstBuys,
      lots: consumed,
      disposals,
      profitHours,
      metrics,
    })
    for (const token of tokens) token.dirty = true
    for (const { lot } of open) lot.dirty = true
    state.changes = {
      tokens,
      firstBuys: [],
      lots: open,
      disposals: [],
      profitHours: [],
      metrics,
    }
    await this.#storeDetails()
  }

  /** Stores at most `limit` of the lots that `addPartial` left. */
  async addLots(state: WalletState, limit: number): Promise<void> {
    const lots = state.changes.lots.splice(0, limit)
    for (const { lot } of lots) lot.dirty = false
    const part = {
      tokens: [],
      firstBuys: [],
      lots,
      disposals: [],
      profitHours: [],
      metrics: false,
    }
    this.#addDetails(state.wallet, this.#versionOf(state), part)
    await this.#storeDetails()
  }

  /**
   * Stores everything. Metrics go first: after a crash they bound how far derived rows may reach.
   */
  async store(): Promise<void> {
    await insertMetrics(this.#store, this.#metrics)
    await Promise.all([insertPositions(this.#store, this.#positions), this.#storeDetails()])
  }

  #versionOf(state: WalletState): bigint {
    return stateVersion(state, this.#fenceOf(state.wallet))
  }

  #addDetails(wallet: number, version: bigint, changes: StateChanges): void {
    for (const { mint, lot } of changes.lots) this.#lots.push(lotRow(wallet, version, mint, lot))
    for (const disposal of changes.disposals)
      this.#disposals.push(disposalRow(wallet, version, disposal))
    for (const buy of changes.firstBuys)
      this.#firstBuys.push(firstBuyRow(wallet, version, buy, this.#isSalted))
    for (const change of changes.profitHours)
      this.#profitHours.push(profitHourRow(wallet, version, change))
  }

  async #storeDetails(): Promise<void> {
    const [lots, disposals, firstBuys] = [this.#lots, this.#disposals, this.#firstBuys]
    const profitHours = this.#profitHours
    this.#lots = []
    this.#disposals = []
    this.#firstBuys = []
    this.#profitHours = []
    await Promise.all([
      insertLots(this.#store, lots),
      insertDisposals(this.#store, disposals),
      insertFirstBuys(this.#store, firstBuys),
      insertProfitHours(this.#store, profitHours),
    ])
  }
}
