import { readFile } from 'node:fs/promises'
import { setFlagsFromString } from 'node:v8'
import { runInNewContext } from 'node:vm'
import type { Store } from '../../pipeline/store/store.ts'
import { createEngine, type TrendingEngine } from '../../pipeline/trending/engine.ts'
import { parseStrategies, SHIPPED_STRATEGIES } from '../../pipeline/trending/strategies-file.ts'
import type { TrendingEvent } from '../../pipeline/trending/trending-event.ts'
import { TICK_SECONDS } from '../../pipeline/trending/watched-token.ts'
import { watchlistRow } from '../../pipeline/workers/trending/trending-rows.ts'
import { readStorageReach, replayTicks } from '../../pipeline/workers/trending/trending-ticks.ts'
import { runCommand } from '../operator/commands.ts'
import type { OperatorParts } from '../operator/parts.ts'
import { fillWithHistory } from '../simulator/fill-store.ts'
import { startMeter } from './kit/cpu.ts'
import { median, print, printHead, printRow } from './kit/figures.ts'
import { withStore } from './kit/folder.ts'
import { readOptions } from './kit/options.ts'

const USAGE = `npm run bench -- trending [options]

  --tokens N      listed tokens (10000)
  --wallets N     wallets that hold each (8)
  --rate N        swaps a second over all of them while ticks are computed (100)
  --hours H       length of the simulated history that is run over anew (168: a week)`

/** The first tick; divisible by ten minutes. */
const START = 1_790_000_400
const SOL = 1_000_000_000n
/** The period of a tick, within which it must be computed. */
const PERIOD_MS = 10_000

/**
 * Cost of a watchlist tick with many listed tokens: one at which little has changed, and the one in
 * sixty at which every market cap follows the price of SOL. Then the time to recompute a history of
 * hours, tick by tick, and to backtest it with each shipped strategy.
 */
export async function run(args: readonly string[]): Promise<void> {
  const read = readOptions(args, USAGE, { tokens: 10_000, wallets: 8, rate: 100, hours: 168 })
  if (read === null) return
  const { options } = read
  await withStore(async (store) => {
    await benchTicks(store, options)
    if (options.hours > 0) await benchReplay(store, options.hours)
  })
}

interface Size {
  readonly tokens: number
  readonly wallets: number
  readonly rate: number
}

async function benchTicks(store: Store, { tokens, wallets, rate }: Size): Promise<void> {
  const engine = createEngine({ from: START, solPriceMaxAgeSeconds: 3600, perturb: null })
  const next = createTrades(tokens, wallets)
  engine.addPrices([{ time: START - 10_000, usdE9: 200n * SOL }])
  const loaded = performance.now()
  const heapBefore = heapBytes()
  load(engine, next, { tokens, wallets })
  const loadMs = performance.now() - loaded
  const heap = heapBytes() - heapBefore
  const few: Measured[] = []
  const all: Measured[] = []
  let listed = 0
  for (let at = START; at < START + 1800; at += TICK_SECONDS) {
    engine.addPrices([{ time: at, usdE9: 200n * SOL + BigInt(at % 1000) * 1_000_000n }])
    engine.add(Array.from({ length: rate * TICK_SECONDS }, (_, n) => next(at - 9 + (n % 10))))
    const ticking = startMeter()
    const tick = engine.tick(at)
    const { seconds, cpuSeconds } = ticking()
    const inserting = startMeter()
    await store.insert('watchlist', tick.changes.map(watchlistRow))
    const insertMs = inserting().seconds * 1000
    const [ms, cpuMs] = [seconds * 1000, cpuSeconds * 1000]
    // The first tick writes every token for the first time.
    if (at > START)
      (at % 600 === 0 ? all : few).push({ ms, cpuMs, insertMs, rows: tick.changes.length })
    listed = tick.listed.length
  }
  print(
    `${listed} tokens listed, ${wallets} wallets in each, ${rate} swaps a second; loaded in ${(loadMs / 1000).toFixed(1)} s, ${(heap / 1e6).toFixed(0)} MB`,
  )
  print('')
  const medians = ['CPU ms, median', 'stored ms, median']
  printHead('tick', 'rows', 'computed ms, median', 'max', ...medians, 'max of both, of 10 s')
  printTicks('what has changed', few)
  printTicks('every ten minutes: all tokens', all)
}

interface Measured {
  readonly ms: number
  readonly cpuMs: number
  readonly insertMs: number
  readonly rows: number
}

function printTicks(name: string, ticks: readonly Measured[]): void {
  const [of, most] = [
    (read: (tick: Measured) => number) => median(ticks.map(read)),
    (read: (tick: Measured) => number) => Math.max(...ticks.map(read)),
  ]
  const both = most(({ ms, insertMs }) => ms + insertMs)
  printRow(
    name,
    of(({ rows }) => rows).toFixed(0),
    of(({ ms }) => ms).toFixed(1),
    most(({ ms }) => ms).toFixed(1),
    of(({ cpuMs }) => cpuMs).toFixed(1),
    of(({ insertMs }) => insertMs).toFixed(1),
    `${((100 * both) / PERIOD_MS).toFixed(1)}%`,
  )
}

/** Gives the tokens a history: each wallet has bought, and some trade within the last two hours. */
function load(
  engine: TrendingEngine,
  next: (time: number, token?: number, wallet?: number) => TrendingEvent,
  { tokens, wallets }: Pick<Size, 'tokens' | 'wallets'>,
): void {
  for (let token = 0; token < tokens; token++) {
    const events: TrendingEvent[] = []
    for (let wallet = 0; wallet < wallets; wallet++)
      events.push(next(START - 7000 + wallet * 500, token, wallet))
    const [first] = events
    if (first === undefined) continue
    const facts = { supply: 10n ** 15n, symbol: 'COIN', name: 'A coin' }
    engine.load({ mint: first.mint, events, facts, pools: [] })
  }
}

/**
 * Trades one after the other: mostly buys, so that every token stays on the list. `n` selects token
 * and wallet.
 */
function createTrades(tokens: number, wallets: number) {
  let count = 0
  return (time: number, token?: number, wallet?: number): TrendingEvent => {
    count += 1
    // An odd factor spreads them over tokens and wallets.
    const spread = (count * 2_654_435_761) % 4_294_967_296
    const of = token ?? spread % tokens
    const isSell = token === undefined && count % 3 === 0
    return {
      slot: 1000 + count,
      txIndex: 0,
      wallet: 1 + (wallet ?? spread % wallets),
      eventIndex: 0,
      blockTime: time,
      kind: isSell ? 'sell' : 'buy',
      mint: `mint${of}`,
      decimals: 6,
      amount: isSell ? 1_000n : BigInt(1_000_000 + (spread % 1000)),
      value: BigInt(100_000_000 + (spread % 50_000_000)),
      solPriceUsdE9: 200n * SOL,
      pool: '',
    }
  }
}

function heapBytes(): number {
  setFlagsFromString('--expose-gc')
  const collect: unknown = runInNewContext('gc')
  if (typeof collect === 'function') collect()
  return process.memoryUsage().heapUsed
}

async function benchReplay(store: Store, hours: number): Promise<void> {
  const { firstTime, swaps } = await fillWithHistory(store, { hours })
  const reach = await readStorageReach(store, null)
  const meter = startMeter()
  let ticks = 0
  let rows = 0
  let most = 0
  const config = { salt: null, solPriceMaxAgeSeconds: 3600 }
  const range = { from: firstTime, through: reach?.tick ?? 0 }
  for await (const tick of replayTicks(store, config, range)) {
    ticks += 1
    rows += tick.changes.length
    most = Math.max(most, tick.listed.length)
  }
  const { seconds, cpuSeconds } = meter()
  print('')
  print(
    `${hours} simulated hours anew (${swaps} swaps, at most ${most} tokens listed): ${ticks} ticks, ${rows} rows in ${seconds.toFixed(1)} s, ${cpuSeconds.toFixed(1)} s of CPU: ${(ticks / seconds).toFixed(0)} ticks/s`,
  )
  await benchBacktests(store, firstTime)
}

/** Each shipped strategy alone, and all of them, as an operator runs them. */
async function benchBacktests(store: Store, from: number): Promise<void> {
  const file = SHIPPED_STRATEGIES
  const strategies = parseStrategies(await readFile(file, 'utf8'), file)
  // The cast is safe: the command `signals backtest` uses only these parts.
  const parts = {
    store,
    salt: null,
    solPriceMaxAgeSeconds: 3600,
    ...NEVER_STOPPED,
  } as OperatorParts
  print('')
  printHead('backtest', 'signals', 'seconds')
  for (const name of [...strategies.map((one) => one.name), null]) {
    const only = name === null ? [] : ['--name', name]
    const args = ['signals', 'backtest', '--strategy', file, '--from', String(from), ...only]
    const started = performance.now()
    const { document } = await runCommand(args, parts, () => {})
    const seconds = (performance.now() - started) / 1000
    // The command validates its document against this schema.
    const told = document as { strategies: readonly { summary: { signals: number } }[] }
    const signals = told.strategies.reduce((sum, { summary }) => sum + summary.signals, 0)
    printRow(name ?? 'all together', signals, seconds.toFixed(1))
  }
}

const NEVER_STOPPED = { stop: new AbortController().signal }
