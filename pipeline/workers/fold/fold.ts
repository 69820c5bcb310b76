import type { Swap } from '../../domain/event.ts'
import type { SlotMarker, SolPrice } from '../../domain/slot.ts'
import { partitionOf } from '../../log/topics.ts'
import type { Registry } from '../../runtime/telemetry.ts'
import type { Store } from '../../store/store.ts'
import { insertSealedSlots } from '../../store/tables/sealed-slots.ts'
import { newestPoolPriceTime } from '../../store/tables/sol-prices.ts'
import { addEmptyMetrics } from '../../store/tables/tracked-wallets.ts'
import { newestStoredSlot } from '../../store/tables/wallet-events.ts'
import { readWithdrawnSlots } from '../../store/tables/withdrawn-slots.ts'
import { createFoldMetrics, type FoldMetrics } from '../telemetry.ts'
import { REFOLD_LIMITS, type RefoldLimits } from './background-refolds.ts'
import { makeEventIdKey } from './event-id-key.ts'
import { type Fences, keptPartitions } from './fence.ts'
import type { Flush, LoggedRecord, PlacedWithdrawal } from './flush.ts'
import type { BackgroundWork } from './flush-scheduler.ts'
import { openHoles } from './holes.ts'
import { NewestPlaces } from './newest-places.ts'
import { adoptSalt } from './privacy-salt.ts'
import { type FoldDeps, type FoldWorker, type RunningFold, runFold } from './run-fold.ts'
import { storeRecords } from './store-records.ts'
import { WalletBooks } from './wallet-books.ts'
import { WalletCache } from './wallet-cache.ts'
import { withdrawSlots } from './withdraw-slots.ts'

/** The running fold worker of this process. */
export interface RunningBooks extends RunningFold {
  /**
   * Changes stored events of wallets (fills in a price, say) and refolds the wallets. `write` gets
   * those of `wallets` whose partitions this process has, perhaps none, and stores new versions of
   * their rows in the store that it gets. After a crash either nothing has changed, or the next
   * start refolds the wallets. Resolves when everything is stored, except the books of wallets that
   * are refolded in the background (rule J16); rejects with `closed` when the
   * worker stops, with `fenced` when the partitions are assigned again meanwhile.
   */
  amend(wallets: readonly number[], write: AmendWrite): Promise<void>
}

/** Changes stored events of wallets. Idempotent. */
export type AmendWrite = (wallets: readonly number[], store: Store) => Promise<void>

/** Dependencies of the fold worker. */
export interface FoldParts extends FoldDeps {
  readonly registry: Registry
  /** Milliseconds of the wall clock. */
  readonly now?: () => number
  /** `PRIVACY_SALT` (rule I2). */
  readonly salt?: string | null
  /** States of wallets in memory. */
  readonly cache?: WalletCache
  /** Which refolds run in the background. Default `REFOLD_LIMITS`. */
  readonly refoldLimits?: RefoldLimits
  /**
   * Called with the swaps of each flush once they are stored. The same swap may come again. Must
   * neither block nor throw.
   */
  readonly onSwaps?: (swaps: readonly Swap[]) => void
  /** Like `onSwaps`, with all records. */
  readonly onStored?: (stored: StoredRecords) => void
  /**
   * Called when stored swaps may lack their SOL price: it went with a withdrawn slot, or partitions
   * are assigned whose former owner may have ended before it filled prices in. Must not throw.
   */
  readonly onUnpriced?: () => void
}

/** What a flush has stored. */
export interface StoredRecords {
  readonly records: readonly LoggedRecord[]
  /** Wallets that were folded again on request. */
  readonly refolds: readonly number[]
  /** Wallets of which a slot was withdrawn. */
  readonly withdrawn: readonly number[]
}

/**
 * Starts the worker that stores events, balances and prices of tracked wallets, and everything
 * derived from them: lots, disposals, positions, metrics. Whatever the log delivers, how often, and
 * wherever the process dies, the tables end up the same (rules C16, K1, K4).
 */
export async function startFold(deps: FoldParts): Promise<RunningBooks> {
  const metrics = createFoldMetrics(deps.registry)
  let worker: BookWorker | undefined
  const running = await runFold((store) => {
    worker = new BookWorker(store, metrics, deps)
    return worker
  }, deps)
  return {
    ...running,
    amend: (wallets, write) => running.between(async () => worker?.amend(wallets, write)),
  }
}

class BookWorker implements FoldWorker {
  readonly name = 'fold'
  readonly background: BackgroundWork
  readonly #store: Store
  readonly #metrics: FoldMetrics
  readonly #deps: FoldParts
  readonly #salt: string | null
  readonly #books: WalletBooks
  #assigned: readonly number[] = []
  #readFences: () => Promise<Fences> = async () => new Map()
  #fences: Fences = new Map()
  #isRecovered = false
  /** Time of the newest stored pool price. The first price stored for a second stays (rule J7). */
  #priceTime = 0
  #newest = new NewestPlaces(Number.POSITIVE_INFINITY)
  /** Slots that were withdrawn: their rows may be tombstones that new records replace. */
  #withdrawn = new Set<number>()

  constructor(store: Store, metrics: FoldMetrics, deps: FoldParts) {
    const { now = Date.now, salt = null, cache = new WalletCache() } = deps
    const limits = deps.refoldLimits ?? REFOLD_LIMITS
    this.#store = store
    this.#metrics = metrics
    this.#deps = deps
    this.#salt = salt
    const fenceOf = (wallet: number) => this.#fences.get(this.#partitionOf(wallet)) ?? 0
    this.#books = new WalletBooks({ store, metrics, now, salt, cache, fenceOf, limits })
    this.background = this.#books.background
  }

  assigned(partitions: readonly number[], fences: () => Promise<Fences>): void {
    this.#assigned = partitions
    this.#readFences = fences
    this.#isRecovered = false
    this.#books.forget((wallet) => this.#isMine(wallet))
    if (partitions.length > 0) this.#deps.onUnpriced?.()
  }

  forget(): void {
    this.#isRecovered = false
    this.#books.forget()
  }

  async amend(wallets: readonly number[], write: AmendWrite): Promise<void> {
    await this.#recover()
    const mine = [...new Set(wallets)].filter((wallet) => this.#isMine(wallet))
    await this.#books.amend(mine, () => write(mine, this.#store))
  }

  async apply(flush: Flush): Promise<boolean> {
    const { records, markers, sealed, refolds, gaps, withdrawals, replayed } = flush
    const end = this.#metrics.flushSeconds.startTimer()
    await this.#recover()
    for (const [kind, count] of countByKind(records)) this.#metrics.records.inc({ kind }, count)
    const priced = markers.filter(({ solPrice }) => (solPrice?.time ?? 0) > this.#priceTime)
    const prices = pricesOf(priced)
    const { log, now = Date.now } = this.#deps
    await openHoles(this.#store, gaps, { partitions: log.partitions, now })
    for (const { isLost } of gaps) this.#metrics.holes.inc({ lost: isLost ? 'offsets' : 'slots' })
    const relationOf = (logged: LoggedRecord) =>
      this.#withdrawn.has(logged.record.slot)
        ? 'unknown'
        : this.#newest.relationOf(this.#partitionOf(logged.record.wallet), logged)
    const isReplayed = (wallet: number) => replayed.has(this.#partitionOf(wallet))
    const toStore = {
      records,
      refolds,
      prices,
      relationOf,
      isReplayed,
      withdrawn: this.#withdrawn,
    }
    const sealedStored = insertSealedSlots(this.#store, uniqueSlots([...priced, ...sealed]))
    // A price is stored after the slot that it came from, so that a restart knows its block.
    if (prices.length > 0) await sealedStored
    const [{ lookedUp, hasMet }] = await Promise.all([
      storeRecords(this.#store, this.#books, toStore),
      sealedStored,
    ])
    for (const logged of records)
      this.#newest.raise(this.#partitionOf(logged.record.wallet), logged, !lookedUp.has(logged))
    this.#priceTime = Math.max(this.#priceTime, ...prices.map(({ time }) => time))
    const withdrawn: number[] = []
    for (const partition of new Set(withdrawals.map((one) => one.partition)))
      withdrawn.push(
        ...(await this.#withdraw(
          withdrawals.filter((one) => one.partition === partition),
          replayed.has(partition),
        )),
      )
    this.#deps.onSwaps?.(swapsOf(records))
    this.#deps.onStored?.({
      records,
      refolds: refolds.map(({ wallet }) => wallet),
      withdrawn,
    })
    const newest = markers.at(-1)
    if (newest !== undefined) this.#metrics.slot.set(newest.slot)
    end()
    return hasMet || withdrawals.some(({ partition }) => replayed.has(partition))
  }

  /** Returns the wallets of which something was withdrawn. */
  async #withdraw(
    withdrawals: readonly PlacedWithdrawal[],
    isReplayed: boolean,
  ): Promise<readonly number[]> {
    const { log, onUnpriced } = this.#deps
    for (const { slot } of withdrawals) this.#withdrawn.add(slot)
    this.#metrics.withdrawals.inc(withdrawals.length)
    const changed = await withdrawSlots(this.#store, this.#books, withdrawals, {
      partitions: log.partitions,
      isReplayed,
    })
    // The block that is sealed instead may have a price in the same second.
    for (const { solPrice } of withdrawals)
      if (solPrice !== null) this.#priceTime = Math.min(this.#priceTime, solPrice.time - 1)
    if (changed.lostPrices) onUnpriced?.()
    return changed.wallets
  }

  async finish(): Promise<void> {
    if (this.#isRecovered) await this.#books.save()
  }

  /** Brings storage to a state that flushes can build on; once after each assignment. */
  async #recover(): Promise<void> {
    if (this.#isRecovered) return
    const before = this.#fences
    this.#fences = await this.#readFences()
    const kept = keptPartitions(before, this.#fences)
    this.#books.forget((wallet) => kept.has(this.#partitionOf(wallet)))
    this.#deps.logger.info(
      { partitions: this.#assigned.length, kept: kept.size, wallets: this.#books.size },
      'reads on from storage; wallets of kept partitions stayed in memory',
    )
    await addEmptyMetrics(this.#store)
    await adoptSalt(this.#store, this.#salt)
    await makeEventIdKey(this.#store)
    await this.#books.recover((wallet) => this.#isMine(wallet))
    const [priceTime, newestSlot, withdrawn] = await Promise.all([
      newestPoolPriceTime(this.#store),
      newestStoredSlot(this.#store),
      readWithdrawnSlots(this.#store),
    ])
    this.#priceTime = Math.max(this.#priceTime, priceTime)
    this.#newest = new NewestPlaces(newestSlot)
    this.#withdrawn = withdrawn
    this.#isRecovered = true
  }

  #partitionOf(wallet: number): number {
    return partitionOf(wallet, this.#deps.log.partitions)
  }

  #isMine(wallet: number): boolean {
    return this.#assigned.includes(this.#partitionOf(wallet))
  }
}

function swapsOf(records: readonly LoggedRecord[]): Swap[] {
  const swaps: Swap[] = []
  for (const { record } of records) if (record.kind === 'swap') swaps.push(record)
  return swaps
}

function countByKind(records: readonly LoggedRecord[]): Map<string, number> {
  const counts = new Map<string, number>()
  for (const { record } of records) counts.set(record.kind, (counts.get(record.kind) ?? 0) + 1)
  return counts
}

/** Prices in markers, one for each second: the last. */
function pricesOf(markers: readonly SlotMarker[]): SolPrice[] {
  const prices = new Map<number, SolPrice>()
  for (const { solPrice } of markers) if (solPrice) prices.set(solPrice.time, solPrice)
  return [...prices.values()]
}

/** Each slot once, with its last marker. */
function uniqueSlots(markers: readonly SlotMarker[]): SlotMarker[] {
  return [...new Map(markers.map((marker) => [marker.slot, marker])).values()]
}
