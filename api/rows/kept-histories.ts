import { setImmediate as nextTurn } from 'node:timers/promises'
import DataLoader from 'dataloader'
import { LRUCache } from 'lru-cache'
import { refoldOf } from '../../pipeline/fold/wallet-metrics.ts'
import type { WalletPlace } from '../../pipeline/fold/wallet-state.ts'
import type { StateChange } from '../../pipeline/log/state-log.ts'
import { batches } from '../../pipeline/runtime/batches.ts'
import type { Store } from '../../pipeline/store/store.ts'
import type { StoredEvent } from '../../pipeline/store/tables/event-rows.ts'
import {
  type EventPage,
  readTokenPages,
  START_PLACE,
} from '../../pipeline/store/tables/wallet-events.ts'
import type { StateModel } from '../state-reader.ts'

/** A page of a wallet's history that somebody waits for. */
interface WantedPage {
  /** The store of the account that asked for it (`FairReads`). */
  readonly store: Store
  readonly wallet: number
  readonly beyond: WalletPlace
  readonly to: number
}

/**
 * The swaps and token transfers of wallets, read when somebody asks and kept in memory, some 300
 * bytes each. A later read adds what came since. A late, corrected or withdrawn event makes a
 * worker fold its wallet again from the first event (rules C16, K9); the log of states tells that,
 * and the wallet is then read again as a whole.
 *
 * What is wanted while two queries are under way comes in the next one. Among forty, a wallet costs
 * the store a quarter of what it costs alone.
 */
export class KeptHistories implements StateModel {
  readonly #kept = new LRUCache<number, readonly StoredEvent[]>({
    maxSize: MOST_EVENTS,
    sizeCalculation: (events) => events.length + 1,
  })
  /** How often each wallet was folded again, as far as the log of states has told. */
  readonly #refolds = new Map<number, bigint>()
  readonly #storeOfAll: (stores: readonly Store[]) => Store
  readonly #pages = new DataLoader<WantedPage, EventPage>((wanted) => this.#readPages(wanted), {
    cache: false,
    maxBatchSize: WALLETS_AT_ONCE,
    batchScheduleFn: (dispatch) => {
      if (this.#free === 0) this.#waiting.push(dispatch)
      else {
        this.#free -= 1
        setImmediate(dispatch)
      }
    },
  })
  /** Queries that may begin now. */
  #free = QUERIES_AT_ONCE
  readonly #waiting: (() => void)[] = []

  /** `storeOfAll`: the store for a read on behalf of all who wait for it. */
  constructor(storeOfAll: (stores: readonly Store[]) => Store) {
    this.#storeOfAll = storeOfAll
  }

  async load(): Promise<void> {}

  apply(changes: readonly StateChange[]): void {
    for (const { table, row } of changes) {
      if (table !== 'wallet_metrics') continue
      const wallet = Number(row.wallet)
      const refold = refoldOf(BigInt(String(row.version)))
      if (this.#refolds.get(wallet) === refold) continue
      this.#refolds.set(wallet, refold)
      this.#kept.delete(wallet)
    }
  }

  /** Yields the swaps and token transfers of a wallet up to slot `to`, in event-key order. */
  async *read(store: Store, wallet: number, to: number): AsyncGenerator<readonly StoredEvent[]> {
    const refold = this.#refolds.get(wallet)
    const kept = this.#kept.get(wallet) ?? []
    for (const some of batches(kept, EVENTS_AT_ONCE)) {
      yield some.at(-1)!.slot <= to ? some : some.filter(({ slot }) => slot <= to)
      await nextTurn() // folding some thousand events takes a while
    }
    let all: StoredEvent[] | null = [...kept]
    for (let beyond: WalletPlace | null = kept.at(-1) ?? START_PLACE; beyond !== null; ) {
      const page: EventPage = await this.#pages.load({ store, wallet, beyond, to })
      const events = page.events()
      yield events
      all = all !== null && all.length + events.length <= MOST_OF_WALLET ? all.concat(events) : null
      beyond = page.isLast ? null : page.reached
    }
    if (all !== null && this.#refolds.get(wallet) === refold) this.#kept.set(wallet, all)
  }

  async #readPages(wanted: readonly WantedPage[]): Promise<EventPage[]> {
    const found = new Map<WantedPage, EventPage>()
    try {
      // A query has one slot `to`, and one place for each wallet. It returns at least one page.
      for (let left = wanted; left.length > 0; left = left.filter((one) => !found.has(one))) {
        const { to } = left[0]!
        const places = new Map<number, WalletPlace>()
        const read = left.filter((one) => {
          if (one.to !== to) return false
          const place = places.get(one.wallet) ?? one.beyond
          places.set(one.wallet, place)
          return place === one.beyond
        })
        const store = this.#storeOfAll(read.map((one) => one.store))
        const ascending = new Map([...places].sort(([a], [b]) => a - b))
        const pages = await readTokenPages(store, ascending, to)
        const pageOf = new Map(pages.map((page) => [page.wallet, page]))
        for (const one of read) {
          const page = pageOf.get(one.wallet)
          if (page !== undefined) found.set(one, page)
        }
      }
      return wanted.map((one) => found.get(one)!)
    } finally {
      const next = this.#waiting.shift()
      if (next === undefined) this.#free += 1
      else next()
    }
  }
}

/** Events of all wallets that are kept, and of one wallet; a longer history is read each time. */
const MOST_EVENTS = 250_000
const MOST_OF_WALLET = 100_000
const EVENTS_AT_ONCE = 5000
/** A page has 5,000 events, and a busy wallet some hundred. */
const WALLETS_AT_ONCE = 40
const QUERIES_AT_ONCE = 2
