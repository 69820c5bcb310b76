import { setImmediate as nextTurn } from 'node:timers/promises'
import { LRUCache } from 'lru-cache'
import { refoldOf } from '../../pipeline/fold/wallet-metrics.ts'
import type { StateChange } from '../../pipeline/log/state-log.ts'
import { batches } from '../../pipeline/runtime/batches.ts'
import type { Store } from '../../pipeline/store/store.ts'
import type { StoredEvent } from '../../pipeline/store/tables/event-rows.ts'
import { readTokenHistory, START_PLACE } from '../../pipeline/store/tables/wallet-events.ts'
import type { StateModel } from '../state-reader.ts'

/**
 * The swaps and token transfers of wallets, read when somebody asks and kept in memory, some 300
 * bytes each. A later read adds what came since. A late, corrected or withdrawn event makes a
 * worker fold its wallet again from the first event (rules C16, K9); the log of states tells that,
 * and the wallet is then read again as a whole.
 */
export class KeptHistories implements StateModel {
  readonly #kept = new LRUCache<number, readonly StoredEvent[]>({
    maxSize: MOST_EVENTS,
    sizeCalculation: (events) => events.length + 1,
  })
  /** How often each wallet was folded again, as far as the log of states has told. */
  readonly #refolds = new Map<number, bigint>()

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
    for await (const page of readTokenHistory(store, wallet, {
      beyond: kept.at(-1) ?? START_PLACE,
      to,
    })) {
      yield page
      all = all !== null && all.length + page.length <= MOST_OF_WALLET ? all.concat(page) : null
    }
    if (all !== null && this.#refolds.get(wallet) === refold) this.#kept.set(wallet, all)
  }
}

/** Events of all wallets that are kept, and of one wallet; a longer history is read each time. */
const MOST_EVENTS = 250_000
const MOST_OF_WALLET = 100_000
const EVENTS_AT_ONCE = 5000
