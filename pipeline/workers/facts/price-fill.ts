import type { Swap } from '../../domain/event.ts'
import { ServiceError } from '../../domain/service-error.ts'
import type { Logger } from '../../runtime/logger.ts'
import type { Registry } from '../../runtime/telemetry.ts'
import { createPatientStore } from '../../store/patient-store.ts'
import { readSettledSolPrices } from '../../store/read-sol-prices.ts'
import type { Store } from '../../store/store.ts'
import type { RunningBooks } from '../fold/fold.ts'
import { createPriceFillMetrics } from '../telemetry.ts'
import {
  type PricedSwap,
  readUnpriced,
  type UnpricedSwap,
  walletsToPrice,
  writePrices,
} from './unpriced-swaps.ts'

/** The worker that finds swaps without a price again when one is known for their time (rule J7). */
export interface PriceFill {
  /** Tells of stored swaps; those without a price are looked at soon. Neither waits nor fails. */
  note(swaps: readonly Swap[]): void
  /** Says that prices have come: all swaps without one are looked at now. Resolves when that is done. */
  pricesCame(): Promise<void>
  /** Resolves when nothing is under way any more. What was not filled is found again at the next start. */
  stop(): Promise<void>
}

export interface PriceFillDeps {
  readonly store: Store
  readonly books: Pick<RunningBooks, 'amend'>
  /** `SOL_PRICE_MAX_AGE_SECONDS`. */
  readonly maxAgeSeconds: number
  readonly logger: Logger
  readonly registry: Registry
  /** Called with what can only be a bug; the process should end. */
  readonly onBug: (error: unknown) => void
}

/** Wallets folded anew together: meanwhile the fold takes nothing else. */
const WALLETS_AT_ONCE = 8
/** How long after a swap without a price was stored it is looked at, and how often all are. */
const DELAY_MS = 10_000
const EVERY_MS = 600_000

/**
 * Looks for swaps without a price for whose time there is one: at the start, when a file of prices was loaded, some time after swaps without one were stored, and
 * every ten minutes; those of a time that storage has not reached wait until it has. Such a swap gets the price and its value in a new version of its row, its
 * wallet is folded anew. A price that a swap has is never replaced (rule C1).
 *
 * Killed anywhere, either the swap still has no price and is found again, or its wallet is marked and folded anew at the next start (`RunningBooks.amend`).
 * Of several processes each fills the swaps of the wallets whose partitions it has.
 */
export function startPriceFill(deps: PriceFillDeps): PriceFill {
  const { logger, maxAgeSeconds } = deps
  const metrics = createPriceFillMetrics(deps.registry)
  const stopping = new AbortController()
  const store = createPatientStore(deps.store, stopping.signal, logger)
  let timer: NodeJS.Timeout | undefined
  let isSoon = false
  let isAhead = false
  let running: Promise<void> = Promise.resolve()

  async function pass(): Promise<void> {
    isAhead = false
    const wallets = await walletsToPrice(store, maxAgeSeconds)
    let filled = 0
    for (let at = 0; at < wallets.length && !stopping.signal.aborted; at += WALLETS_AT_ONCE)
      filled += await fill(wallets.slice(at, at + WALLETS_AT_ONCE))
    if (filled > 0) logger.info({ swaps: filled }, 'prices filled in')
  }

  /** Gives how many swaps of these wallets got a price. */
  async function fill(wallets: readonly number[]): Promise<number> {
    let filled = 0
    for await (const page of readUnpriced(store, wallets)) {
      const priced = await withPrices(page)
      if (priced.length === 0) continue
      await deps.books.amend(
        priced.map((swap) => swap.wallet),
        async (mine) => {
          const own = new Set(mine)
          const swaps = priced.filter((swap) => own.has(swap.wallet))
          await writePrices(store, swaps)
          metrics.filled.inc(swaps.length)
          filled += swaps.length
        },
      )
    }
    return filled
  }

  async function withPrices(swaps: readonly UnpricedSwap[]): Promise<PricedSwap[]> {
    const times = new Set(swaps.map((swap) => swap.blockTime))
    const { prices, ...known } = await readSettledSolPrices(store, times, maxAgeSeconds)
    isAhead ||= known.isAhead
    return swaps.flatMap((swap) => {
      const solPriceUsdE9 = prices.get(swap.blockTime)
      return solPriceUsdE9 === undefined ? [] : [{ ...swap, solPriceUsdE9 }]
    })
  }

  /** One pass after the other. */
  function next(): Promise<void> {
    clearTimeout(timer)
    isSoon = false
    running = running.then(async () => {
      if (stopping.signal.aborted) return
      try {
        await pass()
      } catch (error) {
        if (!(error instanceof ServiceError && error.code === 'closed')) deps.onBug(error)
      }
      if (!isSoon) later(isAhead ? DELAY_MS : EVERY_MS)
    })
    return running
  }

  function later(ms: number): void {
    clearTimeout(timer)
    if (!stopping.signal.aborted) timer = setTimeout(() => void next(), ms)
  }

  void next()
  return {
    note(swaps) {
      if (isSoon || swaps.every((swap) => swap.quoteMint === null || swap.solPriceUsdE9 !== null))
        return
      isSoon = true
      later(DELAY_MS)
    },
    pricesCame: next,
    async stop() {
      stopping.abort()
      clearTimeout(timer)
      await running
    },
  }
}
