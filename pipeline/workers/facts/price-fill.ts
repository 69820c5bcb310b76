import type { Swap } from '../../domain/event.ts'
import { ServiceError } from '../../domain/service-error.ts'
import type { Logger } from '../../runtime/logger.ts'
import type { Registry } from '../../runtime/telemetry.ts'
import { createPatientStore } from '../../store/patient-store.ts'
import type { Store } from '../../store/store.ts'
import { readSettledSolPrices } from '../../store/tables/sol-prices.ts'
import {
  findWalletsToPrice,
  type PricedSwap,
  readUnpriced,
  type UnpricedSwap,
  writePrices,
} from '../../store/tables/unpriced-swaps.ts'
import type { RunningBooks } from '../fold/fold.ts'
import { createPriceFillMetrics } from '../telemetry.ts'

/** The worker that adds SOL prices to swaps that were stored without one (rule J7). */
export interface PriceFillWorker {
  /** Schedules a pass when one of these stored swaps lacks a price. Never blocks or throws. */
  note(swaps: readonly Swap[]): void
  /**
   * Runs a pass over all swaps without a price, after a pass that is running. Resolves when it
   * ends.
   */
  fillNow(): Promise<void>
  /** Stops, and resolves when nothing runs. The next start finds the swaps that lack a price. */
  stop(): Promise<void>
}

/** Dependencies of the worker. */
export interface PriceFillDeps {
  readonly store: Store
  readonly books: Pick<RunningBooks, 'amend'>
  /** `SOL_PRICE_MAX_AGE_SECONDS`. */
  readonly maxAgeSeconds: number
  readonly logger: Logger
  readonly registry: Registry
  /** Called with an error that only a bug can cause; the process should end. */
  readonly onBug: (error: unknown) => void
}

/** Wallets refolded together. The fold worker does nothing else meanwhile. */
const WALLETS_AT_ONCE = 8
/** Delay of a pass after a swap without a price was stored. */
const DELAY_MS = 10_000
/** Interval of the periodic passes, in milliseconds. */
const EVERY_MS = 600_000

/**
 * Starts the worker. A pass runs at the start, when partitions are assigned, after a price file was
 * loaded, ten seconds after a swap without a price was stored, and every ten minutes. It gives
 * swaps the price at their time, and the value that follows, in a new version of their rows, and
 * refolds their wallets. A price is never replaced (rule C1). Swaps of a time that storage has not
 * reached wait.
 *
 * After a crash, either a swap still lacks its price and is found again, or its wallet has a refold
 * mark (`RunningBooks.amend`). Each process fills the wallets of its own partitions.
 */
export function startPriceFill(deps: PriceFillDeps): PriceFillWorker {
  const stopping = new AbortController()
  const store = createPatientStore(deps.store, stopping.signal, deps.logger)
  const filler = new PriceFiller(store, deps)
  let timer: NodeJS.Timeout | undefined
  /** Whether the timer is set for a swap that was noted. */
  let isNoted = false
  let running: Promise<void> = Promise.resolve()

  function schedule(ms: number): void {
    clearTimeout(timer)
    if (!stopping.signal.aborted) timer = setTimeout(() => void runPass(), ms)
  }

  /** Runs a pass after the one that is running, then schedules the next. */
  function runPass(): Promise<void> {
    clearTimeout(timer)
    isNoted = false
    running = running.then(async () => {
      if (stopping.signal.aborted) return
      let isAhead = false
      try {
        isAhead = await filler.fillAll(stopping.signal)
      } catch (error) {
        // The partitions are assigned again: the next pass fills those of this process.
        if (error instanceof ServiceError && error.code === 'fenced') isAhead = true
        else if (!(error instanceof ServiceError && error.code === 'closed')) deps.onBug(error)
      }
      if (!isNoted) schedule(isAhead ? DELAY_MS : EVERY_MS)
    })
    return running
  }

  void runPass()
  return {
    note(swaps) {
      const isPriced = (swap: Swap) => swap.quoteMint === null || swap.solPriceUsdE9 !== null
      if (isNoted || swaps.every(isPriced)) return
      isNoted = true
      schedule(DELAY_MS)
    },
    fillNow: runPass,
    async stop() {
      stopping.abort()
      clearTimeout(timer)
      await running
    },
  }
}

class PriceFiller {
  readonly #store: Store
  readonly #deps: PriceFillDeps
  readonly #metrics: ReturnType<typeof createPriceFillMetrics>
  /** Whether the current pass met a swap of a time that storage has not reached. */
  #isAhead = false

  constructor(store: Store, deps: PriceFillDeps) {
    this.#store = store
    this.#deps = deps
    this.#metrics = createPriceFillMetrics(deps.registry)
  }

  /** Fills all wallets. Returns whether some swaps have to wait for storage to reach their time. */
  async fillAll(stop: AbortSignal): Promise<boolean> {
    this.#isAhead = false
    const wallets = await findWalletsToPrice(this.#store, this.#deps.maxAgeSeconds)
    let filled = 0
    for (let at = 0; at < wallets.length && !stop.aborted; at += WALLETS_AT_ONCE)
      filled += await this.#fill(wallets.slice(at, at + WALLETS_AT_ONCE))
    if (filled > 0) this.#deps.logger.info({ swaps: filled }, 'prices filled in')
    return this.#isAhead
  }

  /** Returns how many swaps of these wallets got a price. */
  async #fill(wallets: readonly number[]): Promise<number> {
    let filled = 0
    for await (const page of readUnpriced(this.#store, wallets)) {
      const priced = await this.#withPrices(page)
      if (priced.length === 0) continue
      await this.#deps.books.amend(
        priced.map((swap) => swap.wallet),
        async (mine, store) => {
          const own = new Set(mine)
          const swaps = priced.filter((swap) => own.has(swap.wallet))
          await writePrices(store, swaps)
          this.#metrics.filled.inc(swaps.length)
          filled += swaps.length
        },
      )
    }
    return filled
  }

  /** Returns those of the swaps that have a price now. */
  async #withPrices(swaps: readonly UnpricedSwap[]): Promise<PricedSwap[]> {
    const times = new Set(swaps.map((swap) => swap.blockTime))
    const { maxAgeSeconds } = this.#deps
    const { prices, isAhead } = await readSettledSolPrices(this.#store, times, maxAgeSeconds)
    this.#isAhead ||= isAhead
    return swaps.flatMap((swap) => {
      const solPriceUsdE9 = prices.get(swap.blockTime)
      return solPriceUsdE9 === undefined ? [] : [{ ...swap, solPriceUsdE9 }]
    })
  }
}
