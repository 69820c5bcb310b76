import type { ChildProcess } from 'node:child_process'
import { once } from 'node:events'
import { type AddressInfo, createServer } from 'node:net'
import { openAmong, type StreamServer } from '../../pipeline/ingest/stream/endpoints.ts'
import { hasConfirmedBlocks } from '../../pipeline/ingest/stream/subscribe-request.ts'
import {
  type OpenUpdateStream,
  openUpdateStream,
} from '../../pipeline/ingest/stream/yellowstone.ts'
import { createMemoryLog } from '../../pipeline/log/memory.ts'
import { createLogger } from '../../pipeline/runtime/logger.ts'
import { createRegistry } from '../../pipeline/runtime/telemetry.ts'
import { startTestIngest } from '../../pipeline/testing/start-test-ingest.ts'
import { percentiles, print, printHead, printRow } from '../bench/kit/figures.ts'
import { readOptions } from '../bench/kit/options.ts'
import { startFlakyRelay } from '../simulate/flaky-relay.ts'
import { type Simulator, startSimulator } from '../simulator/simulator.ts'
import { until } from '../whole-service/customer.ts'
import { startProcess } from '../whole-service/service-process.ts'

const USAGE = `npm run -s drill -- endpoint-loss [options]

Ingests from two Yellowstone servers (simulators of one market). The one in use is suspended
(SIGSTOP) again and again, so that its connection stays open and silent. Measures how long the log
gets no slot. Then starts ingests whose first server
- accepts connections and says nothing: measures the time to the first slot;
- becomes slow, so that each block comes two seconds late: how long the log gets no slot;
- has other blocks than two others: the time from its stream to that of another server.
Exits with 1 if a slot is missing.

  --rounds N        losses of each kind (20)`

const MARKET = { seed: 1, wallets: 5, coins: 20, trackedPerSlot: 3 }
const flagsOf = (seed: number) => [
  ...['--seed', `${seed}`, '--wallets', '5', '--coins', '20', '--tracked-per-slot', '3'],
]

/** What the parts of the drill work on. */
interface Bed {
  /** Has the wallets and RPC. */
  readonly chain: Simulator
  /** Servers of this chain, and one of another. */
  readonly servers: readonly { readonly url: string; readonly child: ChildProcess }[]
  readonly rounds: number
  /** Slots on the log, and those of them that do not follow the one before. */
  readonly slots: { passed: number; unlinked: number }
}

/** Runs the drill. Returns whether every slot is on the log, in order. */
export async function run(args: readonly string[]): Promise<boolean> {
  const read = readOptions(args, USAGE, { rounds: 20 })
  if (read === null) return true
  const { rounds } = read.options
  const chain = await startSimulator(MARKET)
  const programs = [1, 1, 2].map((seed) =>
    startProcess('infra/simulator/main.js', {}, flagsOf(seed)),
  )
  try {
    const servers = await Promise.all(
      programs.map(async ({ child, line }) => ({ child, url: await line('YELLOWSTONE_ENDPOINT') })),
    )
    const bed: Bed = { chain, servers, rounds, slots: { passed: 0, unlinked: 0 } }
    printHead('first server', 'times', 'p50 ms', 'p99 ms', 'max ms')
    for (const [name, measure] of Object.entries(PARTS)) {
      const times = await measure(bed)
      printRow(name, times.length, ...percentiles(times, 0.5, 0.99, 1).map(Math.round))
    }
    const { passed, unlinked } = bed.slots
    print(`${passed} slots on the log, ${unlinked} not linked to the one before`)
    return unlinked === 0
  } finally {
    await Promise.all(programs.map((program) => program.kill()))
    await chain.close()
  }
}

const PARTS: Readonly<Record<string, (bed: Bed) => Promise<readonly number[]>>> = {
  /** The longest time without a slot, around each suspension of the server in use. */
  async suspended(bed) {
    const { servers, rounds } = bed
    const run = await startRun(bed, [urlOf(bed, 0), urlOf(bed, 1)])
    const gaps: number[] = []
    for (let round = 0; round < rounds; round += 1) {
      await run.pass(5)
      const used = servers.find(({ url }) => url === run.used())?.child
      const from = run.arrivals.length - 1
      used?.kill('SIGSTOP')
      await run.leaves(run.used())
      await run.pass(2)
      used?.kill('SIGCONT')
      gaps.push(run.longestGapMs(from))
    }
    await run.stop()
    return gaps
  },
  /** The time from the start to the first slot. */
  async 'silent, at the start'(bed) {
    const silent = createServer((socket) => socket.on('error', () => {}).resume())
    silent.listen(0, '127.0.0.1')
    await once(silent, 'listening')
    const { port } = silent.address() as AddressInfo // listening on TCP
    const times = await eachRound(bed, async () => {
      const startedAt = performance.now()
      const run = await startRun(bed, [`http://127.0.0.1:${port}`, urlOf(bed, 0)])
      await run.pass(1)
      await run.stop()
      return (run.arrivals[0]?.at ?? 0) - startedAt
    })
    silent.close()
    return times
  },
  /** The longest time without a slot after the server became slow. */
  slow: (bed) =>
    eachRound(bed, async () => {
      const relay = await startFlakyRelay(urlOf(bed, 0))
      const run = await startRun(bed, [relay.url, urlOf(bed, 1)])
      await run.pass(5)
      const from = run.arrivals.length - 1
      relay.fail('slow')
      await run.leaves(relay.url)
      await run.pass(2)
      await run.stop()
      await relay.close()
      return run.longestGapMs(from)
    }),
  /** The time from its stream to that of another server. */
  'other blocks than two others': (bed) =>
    eachRound(bed, async () => {
      const wrong = urlOf(bed, 2)
      const run = await startRun(bed, [wrong, urlOf(bed, 0), urlOf(bed, 1)])
      await run.leaves(wrong)
      await run.pass(1)
      await run.stop()
      const [from = 0, to = 0] = run.opened
      return to - from
    }),
}

const urlOf = ({ servers }: Bed, server: number) => servers[server]?.url ?? ''

async function eachRound({ rounds }: Bed, measure: () => Promise<number>): Promise<number[]> {
  const times: number[] = []
  while (times.length < rounds) times.push(await measure())
  return times
}

/** Ingests from some servers. */
async function startRun({ chain, slots }: Bed, urls: readonly [string, ...string[]]) {
  const logger = createLogger('silent')
  const log = createMemoryLog({ logger, registry: createRegistry() })
  const arrivals: { slot: number; parent: number; at: number }[] = []
  await log.consume({ mode: 'follow', sinceMs: 0 }, async ({ partition, records }) => {
    for (const entry of records)
      if (partition === 0 && entry.kind === 'marker')
        arrivals.push({ ...entry.marker, at: performance.now() })
  })
  let used = ''
  const opened: number[] = []
  const open: OpenUpdateStream = async (options) => {
    const stream = await openUpdateStream(options)
    const isFollowed = Object.keys(options.request.slots).length > 0
    if (!('kind' in stream) && hasConfirmedBlocks(options.request) && isFollowed) {
      used = options.endpoint
      opened.push(performance.now())
    }
    return stream
  }
  const [first, ...more] = urls.map((endpoint) => ({ endpoint, xToken: null }))
  const servers = [first as StreamServer, ...more] as const // one at least was given
  const ingest = await startTestIngest(chain, log, {
    openStream: openAmong(servers, { open, logger }),
  })
  return {
    /** The slots on the log, with the times at which they came. */
    arrivals,
    /** The server whose transactions are followed. */
    used: () => used,
    /** When streams of transactions were opened. */
    opened,
    /** Resolves when so many more slots have come. */
    async pass(slots: number) {
      const before = arrivals.length
      await until(
        async () => arrivals.length,
        (count) => count >= before + slots,
      )
    },
    /** Resolves when another server than `url` is used. */
    async leaves(url: string) {
      await until(
        async () => used,
        (endpoint) => endpoint !== url && endpoint !== '',
      )
    },
    /** The longest time between two slots, from the one at index `from` on. */
    longestGapMs(from: number) {
      const times = arrivals.slice(from).map(({ at }) => at)
      return Math.max(...times.slice(1).map((at, index) => at - (times[index] ?? at)))
    },
    async stop() {
      await ingest.stop()
      await log.close()
      const isUnlinked = ({ parent }: { parent: number }, at: number) =>
        at > 0 && arrivals[at - 1]?.slot !== parent
      slots.passed += arrivals.length
      slots.unlinked += arrivals.filter(isUnlinked).length
    },
  }
}
