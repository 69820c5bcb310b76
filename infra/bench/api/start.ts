import { monitorEventLoopDelay } from 'node:perf_hooks'
import { setFlagsFromString } from 'node:v8'
import { runInNewContext } from 'node:vm'
import { OpenPositions } from '../../../api/rows/open-positions.ts'
import type { Row, Store } from '../../../pipeline/store/store.ts'
import { startMeter } from '../kit/cpu.ts'
import { print } from '../kit/figures.ts'
import { withStore } from '../kit/folder.ts'
import { mintSql } from './seed.ts'

/**
 * The read model of open positions: time and CPU of its start from an embedded store, with the
 * engine's, the longest time in which the event loop did not turn, and bytes a position; then CPU
 * of a change, and of pages.
 */
export function measureStart(count: number): Promise<void> {
  return withStore(async (store) => {
    for (let from = 0; from < count; from += AT_ONCE)
      await store.command(POSITIONS, { from, count: Math.min(AT_ONCE, count - from) })
    await measureModel(store, count)
  })
}

async function measureModel(store: Store, count: number): Promise<void> {
  setFlagsFromString('--expose-gc')
  const collect = runInNewContext('gc') as () => void
  const stored = { slot: 1, blockTime: NOW }
  collect()
  const before = used()
  const open = new OpenPositions()
  const delay = monitorEventLoopDelay({ resolution: 1 })
  delay.enable()
  const meter = startMeter()
  await open.load(store, stored)
  const { seconds, cpuSeconds } = meter()
  delay.disable()
  collect()
  const bytes = (used() - before) / count
  print(
    `${count} positions read in ${seconds.toFixed(1)} s, CPU ${cpuSeconds.toFixed(1)} s, event loop blocked ${(delay.max / 1e6).toFixed(0)} ms at most, ${bytes.toFixed(0)} bytes each`,
  )
  cpuOf('a change', () => open.apply(changesOf(open), stored), CHANGES)
  for (const [name, minSeconds, maxSeconds, page] of PAGES)
    cpuOf(name, () => {
      const filter = { wallet: null, minSeconds, maxSeconds }
      open.holdings(NOW, filter, { offset: 100 * (page - 1), limit: 100 })
    })
  cpuOf('page 1 of held tokens', () => open.held({ minWallets: 2, offset: 0, limit: 25 }))
}

/** Bought once more by some wallets, just now. */
function changesOf(open: OpenPositions) {
  return Array.from({ length: CHANGES }, (_, at) => {
    const [row = 0] = open.ofWallet(1 + at * 37)
    const position: Row = { ...open.row(row), last_trade_time: NOW, version: '2', is_deleted: 0 }
    return { table: 'positions', row: position } as const
  })
}

const CHANGES = 5000

/** Prints the least CPU of five calls in microseconds. */
function cpuOf(name: string, call: () => void, each = 1): void {
  const times = Array.from({ length: 5 }, () => {
    const meter = startMeter()
    call()
    return meter().cpuSeconds
  })
  print(`${name}: ${((Math.min(...times) * 1e6) / each).toFixed(0)} us of CPU`)
}

function used(): number {
  const { heapUsed, arrayBuffers } = process.memoryUsage()
  return heapUsed + arrayBuffers
}

const NOW = 1_790_000_000
const HALF_A_YEAR = 15_000_000
const PAGES = [
  ['page 1 of holdings', 0, null, 1],
  ['page 10000 of holdings', 0, null, 10_000],
  ['page 1 of holdings older than an hour', 3600, null, 1],
  ['page 10000 of holdings older than an hour', 3600, null, 10_000],
  ['the last page of the oldest 1% of holdings', (HALF_A_YEAR * 99) / 100, null, 100],
] as const

const AT_ONCE = 50_000
const POSITIONS = `
  INSERT INTO positions (wallet, mint, decimals, buys, sells, bought_amount, sold_amount, bought_lamports, sold_lamports, first_trade_time, last_trade_time, version)
  WITH number + {from:UInt32} AS n, ${NOW} - cityHash64(n) % ${HALF_A_YEAR} AS first
  SELECT 1 + n % 250000, ${mintSql('intDiv(n, 10)')}, 6, 2, 1, 1000000 + n * 7, 500000 + n, 1000000000 + n % 1000, 5000,
    first, first + cityHash64(n, 1) % (${NOW + 1} - first), 1
  FROM numbers({count:UInt32})`
