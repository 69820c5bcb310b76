import { LAMPORTS_PER_SOL, nearestNumber } from '../domain/amount.ts'
import { compareEventKeys } from '../domain/event-key.ts'
import { type Perturb, perturbAmount } from '../domain/perturbation.ts'
import type { PoolSnapshot } from '../domain/pool-snapshot.ts'
import { USDC, USDT, WSOL } from '../domain/quote.ts'
import type { TokenFacts } from '../trending/token-book.ts'
import type { TrendingEvent } from '../trending/trending-event.ts'
import type { Momentum, WatchEvent, WatchedToken } from '../trending/watched-token.ts'

/** All stored rows that the watchlist depends on. */
export interface WatchlistInputs {
  /** In event-key order. */
  readonly events: readonly TrendingEvent[]
  readonly facts: ReadonlyMap<string, TokenFacts>
  /** Ordered by time. */
  readonly solPrices: readonly { readonly time: number; readonly usdE9: bigint }[]
  /** Ordered by `at`. */
  readonly pools: readonly PoolSnapshot[]
  readonly perturb: Perturb | null
  readonly solPriceMaxAgeSeconds: number
}

/** A watchlist event, and the token as it is after the event. */
export interface SlowChange {
  readonly event: WatchEvent
  readonly token: WatchedToken
}

/** An event in its served form, and the time from which it counts. */
type Counted = TrendingEvent & { readonly time: number }

/**
 * Returns the changes of the watchlist from tick `from` on, by tick, then mint (rules G1 to G4). At
 * each tick it computes every figure of every token from the whole history.
 *
 * With `onlyWhenDue` it computes only ticks at which the age of an event can change something,
 * which is about a hundred times faster.
 */
export function slowWatchlist(
  stored: WatchlistInputs,
  { from, through, onlyWhenDue = false }: { from: number; through: number; onlyWhenDue?: boolean },
): SlowChange[] {
  const byMint = new Map<string, Counted[]>()
  for (const event of counted(stored)) {
    const known = byMint.get(event.mint) ?? []
    known.push(event)
    byMint.set(event.mint, known)
  }
  const changes: SlowChange[] = []
  for (const [mint, events] of byMint)
    changes.push(...changesOf(stored, mint, events, { from, through, onlyWhenDue }))
  return changes.sort((a, b) => a.token.at - b.token.at || (a.token.mint < b.token.mint ? -1 : 1))
}

function changesOf(
  stored: WatchlistInputs,
  mint: string,
  events: readonly Counted[],
  range: { from: number; through: number; onlyWhenDue: boolean },
): SlowChange[] {
  const changes: SlowChange[] = []
  const pools = stored.pools.filter((snapshot) => snapshot.mint === mint)
  const times = [...events.map(({ time }) => time), ...pools.map(({ at }) => at)]
  const due = new Set<number>()
  const up = (time: number) => Math.ceil(time / 10) * 10
  for (const time of times)
    for (const age of [0, 600, 3600, 7200, 77_760, 86_400]) {
      due.add(up(time + age))
      due.add(up(time) + age)
    }
  let entered: number | null = null
  let written: WatchedToken | null = null
  for (let at = up(Math.min(...times)); at <= range.through; at += 10) {
    if (range.onlyWhenDue && at !== range.from && at % 600 !== 0 && !due.has(at)) continue
    const past = events.filter(({ time }) => time <= at)
    const swaps = past.filter(isSwap)
    const lastTrade = swaps.at(-1)
    if (lastTrade === undefined) continue
    const holding = holdersOf(past).length
    const isOld = at - lastTrade.time >= 86_400
    const before = entered
    if (entered === null) {
      if (!isOld && holding >= 2) entered = at
    } else if (isOld || holding === 0) entered = null
    if (at < range.from || (entered ?? before) === null) continue
    if (entered === null && written === null) continue
    const token = tokenAt(stored, mint, past, pools, at, entered ?? before ?? 0)
    const isNew = written === null
    if (entered === null) {
      changes.push({ event: 'left', token })
      written = null
    } else if (isNew || !isSameBut(written, token)) {
      changes.push({ event: isNew ? 'entered' : 'changed', token })
      written = token
    }
  }
  return changes
}

function tokenAt(
  stored: WatchlistInputs,
  mint: string,
  past: readonly Counted[],
  pools: readonly PoolSnapshot[],
  at: number,
  enteredAt: number,
): WatchedToken {
  const { supply, symbol, name } = stored.facts.get(mint) ?? { supply: null, symbol: '', name: '' }
  const swaps = past.filter(isSwap)
  const first = swaps[0]
  const last = swaps.at(-1)
  if (first === undefined || last === undefined) throw new Error('a listed token was traded')
  const holders = holdersOf(past)
  const within = (side: 'buy' | 'sell', after: number, through: number) =>
    swaps
      .filter(({ kind, time }) => kind === side && time > after && time <= through)
      .reduce((sum, { value }) => sum + (value ?? 0n), 0n)
  const buys = within('buy', at - 3600, at)
  const sells = within('sell', at - 3600, at)
  const before = within('buy', at - 7200, at - 3600) + within('sell', at - 7200, at - 3600)
  const pctHeld =
    holders.length === 0 ? 0 : nearestNumber(sumOf(holders, 'held'), sumOf(holders, 'bought'))
  const entries = holders.flatMap(({ firstBuy, spent }) => {
    if (supply === null || firstBuy?.value == null || firstBuy.solPriceUsdE9 === null) return []
    const mcap = nearestNumber(
      supply * firstBuy.value * firstBuy.solPriceUsdE9,
      firstBuy.amount * 10n ** 18n,
    )
    return [{ mcap, weight: nearestNumber(spent, LAMPORTS_PER_SOL) }]
  })
  const weight = entries.reduce((sum, entry) => sum + entry.weight, 0)
  const bandMin = entries.length === 0 ? null : Math.min(...entries.map(({ mcap }) => mcap))
  const bandMax = entries.length === 0 ? null : Math.max(...entries.map(({ mcap }) => mcap))
  const mean = entries.reduce((sum, entry) => sum + entry.mcap * entry.weight, 0) / weight
  const avgEntryMcap =
    weight === 0 || bandMin === null || bandMax === null
      ? null
      : Math.min(bandMax, Math.max(bandMin, mean))
  const now = marketAt(stored, past, pools, supply, at, enteredAt)
  const ago = marketAt(
    stored,
    past.filter(({ time }) => time <= at - 3600),
    pools,
    supply,
    at - 3600,
    enteredAt,
  )
  const holdersAgo = holdersOf(past.filter(({ time }) => time <= at - 3600)).length
  const hasHour = first.time <= at - 3600
  const momentum = (value: number | null, then: number | null): Momentum => {
    let changePct = 0
    if (hasHour && value !== null && then !== null)
      changePct = then === 0 ? (value === 0 ? 0 : 100) : ((value - then) / then) * 100
    return { value, changePct, trend: changePct > 5 ? 'up' : changePct < -5 ? 'down' : 'flat' }
  }
  const volume = buys + sells
  const buyers = [
    ...new Set(swaps.filter(({ kind }) => kind === 'buy').map(({ wallet }) => wallet)),
  ]
  const second = swaps.find(({ kind, wallet }) => kind === 'buy' && wallet === buyers[1])
  const flow = Number(volume) === 0 ? 0 : nearestNumber(buys, volume)
  return {
    at,
    mint,
    symbol,
    name,
    firstTradeAt: first.time,
    discoveredAt: second?.time ?? 0,
    enteredAt,
    oldestHoldAt:
      holders.length === 0
        ? null
        : Math.min(
            ...holders.map(
              (holder) => swaps.find(({ wallet }) => wallet === holder.wallet)?.time ?? 0,
            ),
          ),
    lastTradeAt: last.time,
    walletsHolding: holders.length,
    wallets: holders.map(({ wallet }) => wallet),
    conviction: 40 * Math.min(1, holders.length / 10) + 30 * pctHeld + 30 * flow,
    heldLamports: sumOf(holders, 'cost'),
    pctHeld,
    avgEntryMcap,
    currentMcap: now.mcap,
    multiple: now.mcap === null || !avgEntryMcap ? null : now.mcap / avgEntryMcap,
    bandMin,
    bandMax,
    buyLamports: buys,
    sellLamports: sells,
    momentum: {
      mcap: momentum(now.mcap, ago.mcap),
      holders: momentum(holders.length, holdersAgo),
      volume1h: momentum(
        nearestNumber(volume, LAMPORTS_PER_SOL),
        nearestNumber(before, LAMPORTS_PER_SOL),
      ),
      liquidity: momentum(now.liquidity, ago.liquidity),
    },
    state:
      at - enteredAt < 600
        ? 'discovered'
        : 5n * buys > 6n * sells
          ? 'accumulating'
          : 5n * sells > 6n * buys
            ? 'distributing'
            : 'holding',
    nearEvict: holders.length === 1 || at - last.time >= 77_760,
  }
}

/** Market cap and liquidity as of a time, from what happened until then. */
function marketAt(
  stored: WatchlistInputs,
  past: readonly Counted[],
  pools: readonly PoolSnapshot[],
  supply: bigint | null,
  time: number,
  enteredAt: number,
): { mcap: number | null; liquidity: number | null } {
  const step = Math.floor(time / 600) * 600
  const lastPool = past.filter((event) => isSwap(event) && event.pool !== '').at(-1)?.pool
  const snapshot = pools.filter(({ at }) => at <= time).at(-1)
  if (
    snapshot !== undefined &&
    snapshot.at >= enteredAt &&
    snapshot.pool !== '' &&
    snapshot.pool === lastPool &&
    snapshot.price.base > 0n &&
    [WSOL, USDC, USDT].includes(snapshot.quoteMint as typeof WSOL)
  ) {
    const { quoteReserve, price } = snapshot
    const sol = solAt(stored, Math.max(step, snapshot.at))
    if (snapshot.quoteMint === WSOL)
      return {
        mcap:
          sol === null || supply === null
            ? null
            : nearestNumber(supply * price.quote * sol, price.base * 10n ** 18n),
        liquidity: nearestNumber(2n * quoteReserve, LAMPORTS_PER_SOL),
      }
    return {
      mcap: supply === null ? null : nearestNumber(supply * price.quote, price.base * 10n ** 6n),
      liquidity: sol === null ? null : nearestNumber(2000n * quoteReserve, sol),
    }
  }
  const priced = past.filter((event) => isSwap(event) && event.value !== null && event.value > 0n)
  const newest = priced.at(-1)
  if (newest === undefined || newest.value === null || supply === null)
    return { mcap: null, liquidity: null }
  const sol =
    step > newest.time ? solAt(stored, step) : (newest.solPriceUsdE9 ?? solAt(stored, newest.time))
  return {
    mcap:
      sol === null ? null : nearestNumber(supply * newest.value * sol, newest.amount * 10n ** 18n),
    liquidity: null,
  }
}

function solAt({ solPrices, solPriceMaxAgeSeconds }: WatchlistInputs, time: number): bigint | null {
  const known = solPrices.filter((price) => price.time <= time).at(-1)
  return known === undefined || time - known.time > solPriceMaxAgeSeconds ? null : known.usdE9
}

interface SlowHolder {
  readonly wallet: number
  readonly bought: bigint
  readonly held: bigint
  readonly spent: bigint
  /** Cost of the open lots. */
  readonly cost: bigint
  readonly firstBuy: Counted | undefined
}

/** Wallets that hold by their swaps, by number. */
function holdersOf(past: readonly Counted[]): SlowHolder[] {
  const wallets = [...new Set(past.map(({ wallet }) => wallet))].sort((a, b) => a - b)
  return wallets.flatMap((wallet) => {
    const own = past.filter((event) => event.wallet === wallet)
    const buys = own.filter(({ kind }) => kind === 'buy')
    const bought = buys.reduce((sum, { amount }) => sum + amount, 0n)
    const sold = own
      .filter(({ kind }) => kind === 'sell')
      .reduce((sum, { amount }) => sum + amount, 0n)
    if (bought <= sold) return []
    const spent = buys.reduce((sum, { value }) => sum + (value ?? 0n), 0n)
    const firstBuy = buys[0]
    return [{ wallet, bought, held: bought - sold, spent, cost: openCost(own), firstBuy }]
  })
}

/** Cost of the remaining lots of a wallet (rules C2 to C4). */
function openCost(own: readonly Counted[]): bigint {
  const lots: { readonly amount: bigint; readonly cost: bigint; left: bigint; leftCost: bigint }[] =
    []
  for (const { kind, amount, value } of own) {
    if (kind === 'buy' || kind === 'token_in') {
      const cost = kind === 'buy' ? (value ?? 0n) : 0n
      lots.push({ amount, cost, left: amount, leftCost: cost })
      continue
    }
    let wanted = amount
    for (const lot of lots) {
      const isWhole = wanted >= lot.left
      const taken = isWhole ? lot.left : wanted
      const cost = isWhole ? lot.leftCost : (lot.cost * taken) / lot.amount
      lot.left -= taken
      lot.leftCost -= cost
      wanted -= taken
    }
  }
  return lots.reduce((sum, { leftCost }) => sum + leftCost, 0n)
}

/**
 * Returns events in their served form, each with the time from which it counts: not before the
 * previous event of the same wallet and token.
 */
function counted({ events, perturb }: WatchlistInputs): Counted[] {
  const newest = new Map<string, number>()
  return events
    .map((event) => {
      const noise = perturb?.(event) ?? { factorPpm: 1_000_000n, earlierSeconds: 0 }
      const key = `${event.wallet} ${event.mint}`
      const blockTime = event.blockTime - noise.earlierSeconds
      const time = Math.max(blockTime, newest.get(key) ?? 0)
      newest.set(key, time)
      const amount = perturbAmount(event.amount, noise)
      const value = event.value === null ? null : perturbAmount(event.value, noise)
      const price = event.solPriceUsdE9
      const digits = perturb === null || price === null ? null : Number(price).toPrecision(3)
      const solPriceUsdE9 = digits === null ? price : BigInt(Number(digits))
      return { ...event, blockTime, amount, value, solPriceUsdE9, time }
    })
    .sort((a, b) => a.time - b.time || compareEventKeys(a, b))
}

function isSwap({ kind }: TrendingEvent): boolean {
  return kind === 'buy' || kind === 'sell'
}

function sumOf(holders: readonly SlowHolder[], field: 'held' | 'bought' | 'cost'): bigint {
  return holders.reduce((sum, holder) => sum + holder[field], 0n)
}

/** Whether two snapshots differ in nothing but the tick. */
function isSameBut(a: WatchedToken | null, b: WatchedToken): boolean {
  const text = (token: WatchedToken) =>
    JSON.stringify({ ...token, at: 0 }, (_key, value: unknown) =>
      typeof value === 'bigint' ? `${value}n` : value,
    )
  return a !== null && text(a) === text(b)
}
