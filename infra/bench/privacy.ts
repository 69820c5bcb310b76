import type { Swap } from '../../pipeline/domain/event.ts'
import { createPerturb, serveSwap } from '../../pipeline/domain/perturbation.ts'
import { createChainShape } from '../simulator/chain-shape.ts'
import { createMarket } from '../simulator/market/market.ts'
import { addTo } from '../simulator/memo.ts'
import { NO_TROUBLE } from '../simulator/options.ts'
import { median, printHead, printRow } from './kit/figures.ts'
import { readOptions } from './kit/options.ts'
import { measureJoins, type WalletHistories } from './privacy/joins.ts'

const USAGE = `npm run bench -- privacy [options]

  --slots N       length of the chain, in slots of 400 ms (1500: ten minutes)
  --wallets N     wallets that trade, any of which may be the one behind an alias (250)`

/** Markets from quiet to crowded, by coins and transactions a slot. */
const MARKETS = [
  { name: 'quiet', coins: 200, perSlot: 2 },
  { name: 'busy', coins: 50, perSlot: 8 },
  { name: 'crowded', coins: 10, perSlot: 20 },
  { name: 'mania', coins: 10, perSlot: 60 },
] as const

const SALT = 'a salt for this bench alone'

/**
 * Number of trades examined per wallet. If several wallets still fit, the wallet counts as not
 * found.
 */
const MOST_TRADES = 200

/**
 * An attack on aliases. The attacker reads the whole chain, joins the served trades of an alias
 * with true ones (mint, side, amounts, time), and keeps the wallets that fit every trade, until one
 * is left. Prints the number of trades that this takes (median over the aliases), with
 * `PRIVACY_SALT` off and on, by how crowded the market is. It does so for history, for a live
 * socket (where the time of arrival gives the time of the trade), and for history when prices are
 * compared too (one factor for base and quote leaves the price as it is).
 * Then joins without trades in the busy market: by balance, by sums of transfers, by counts, by
 * rows of analysts' views.
 */
export async function run(args: readonly string[]): Promise<void> {
  const read = readOptions(args, USAGE, { slots: 1500, wallets: 250 })
  if (read === null) return
  const { slots, wallets } = read.options
  let busy: WalletHistories | undefined
  const attacks = ['history', 'live', 'history, by price']
  printHead('market', 'trades a minute and coin', 'salt', ...attacks)
  for (const { name, coins, perSlot } of MARKETS) {
    const history = readHistory({ slots, wallets, coins, perSlot })
    const swaps = history.events.filter((event) => event.kind === 'swap')
    if (name === 'busy') busy = history
    const density = swaps.length / ((slots * 0.4) / 60) / coins
    for (const salt of [null, SALT]) {
      const cells = ATTACKS.map((attack) => attackAll(swaps, salt, attack))
      printRow(name, density.toFixed(1), salt === null ? 'off' : 'on', ...cells)
    }
  }
  if (busy) measureJoins(busy, SALT)
}

interface Chain {
  readonly slots: number
  readonly wallets: number
  readonly coins: number
  readonly perSlot: number
}

/** The events of the tracked wallets of the simulated chain, in order. */
function readHistory({ slots, wallets, coins, perSlot }: Chain): WalletHistories {
  const seed = 1
  const options = { seed, wallets, coins, trackedPerSlot: perSlot, othersPerSlot: 0 }
  const market = createMarket(options, createChainShape(seed, NO_TROUBLE))
  const first = 400_000_000
  const truths = Array.from({ length: slots }, (_, at) => market.truth(first + at))
  return {
    events: truths.flatMap((truth) => truth.events),
    balances: truths.flatMap((truth) => truth.balances),
  }
}

/**
 * The fields that an attacker compares in addition to mint and side, and the tolerance of amounts
 * with the salt.
 */
interface Attack {
  /**
   * Seconds by which the true time of a trade may differ from the served one, as far as the
   * attacker knows.
   */
  window(salted: boolean): readonly [from: number, to: number]
  readonly byPrice: boolean
}

const HISTORY: Attack = { window: (salted) => (salted ? [3, 16] : [0, 0]), byPrice: false }
const ATTACKS: readonly Attack[] = [
  HISTORY,
  // The attacker sees the trade on the socket within a second.
  { window: () => [-1, 0], byPrice: false },
  { ...HISTORY, byPrice: true },
]

/**
 * Median number of trades after which an alias fits only one wallet. An alias that still fits
 * several counts as infinity.
 */
function attackAll(swaps: readonly Swap[], salt: string | null, attack: Attack): string {
  const perturb = createPerturb(salt)
  const known = groupBy(swaps, (swap) => `${swap.baseMint} ${swap.side}`)
  const byWallet = groupBy(swaps, (swap) => swap.wallet)
  const counts = [...byWallet.values()].map((own) => {
    const newest = own.slice(-MOST_TRADES).reverse()
    let candidates = [...byWallet.keys()]
    for (const [index, swap] of newest.entries()) {
      const served = serveSwap(swap, perturb)
      // Arrival on the socket gives the time of the trade, whatever the trade says.
      const seen =
        attack.byPrice || attack === HISTORY ? served : { ...served, blockTime: swap.blockTime }
      const fitting = fittingWallets(seen, known.get(`${swap.baseMint} ${swap.side}`) ?? [], {
        window: attack.window(perturb !== null),
        tolerance: perturb === null ? 0n : 10n,
        byPrice: attack.byPrice,
      })
      candidates = candidates.filter((wallet) => fitting.has(wallet))
      if (candidates.length === 1) return index + 1
    }
    return Number.POSITIVE_INFINITY
  })
  const found = counts.filter(Number.isFinite).length
  const middle = median(counts)
  return `${Number.isFinite(middle) ? middle : `more than ${MOST_TRADES}`} (${Math.round((100 * found) / counts.length)}% found)`
}

function groupBy<T, K>(items: readonly T[], keyOf: (item: T) => K): Map<K, T[]> {
  const groups = new Map<K, T[]>()
  for (const item of items) addTo(groups, keyOf(item), item)
  return groups
}

interface Fit {
  readonly window: readonly [from: number, to: number]
  /** Percent by which an amount may have been changed. */
  readonly tolerance: bigint
  readonly byPrice: boolean
}

/**
 * The wallets that have a true swap which the served one may be; `swaps` are in the order of time.
 */
function fittingWallets(served: Swap, swaps: readonly Swap[], { window, tolerance, byPrice }: Fit) {
  const fitting = new Set<number>()
  const [from, to] = window
  for (let at = firstAt(swaps, served.blockTime + from); at < swaps.length; at++) {
    const swap = swaps[at] as Swap // below the length
    if (swap.blockTime > served.blockTime + to) break
    if (!isNear(served.baseAmount, swap.baseAmount, tolerance)) continue
    if (!isNear(served.quoteAmount, swap.quoteAmount, tolerance)) continue
    if (byPrice && !hasPrice(served, swap)) continue
    fitting.add(swap.wallet)
  }
  return fitting
}

/** Whether `served` is within `percent` of `truth`, plus one unit for rounding. */
function isNear(served: bigint, truth: bigint, percent: bigint): boolean {
  return (
    (served + (percent === 0n ? 0n : 1n)) * 100n >= truth * (100n - percent) &&
    served * 100n <= truth * (100n + percent)
  )
}

/** Whether base and quote were changed by one factor, within the rounding units. */
function hasPrice(served: Swap, swap: Swap): boolean {
  const difference = served.baseAmount * swap.quoteAmount - served.quoteAmount * swap.baseAmount
  const rounding = swap.baseAmount + swap.quoteAmount
  return difference <= rounding && difference >= -rounding
}

/** Index of the first swap at or after a time. */
function firstAt(swaps: readonly Swap[], time: number): number {
  let low = 0
  let high = swaps.length
  while (low < high) {
    const middle = (low + high) >>> 1
    if ((swaps[middle]?.blockTime ?? 0) < time) low = middle + 1
    else high = middle
  }
  return low
}
