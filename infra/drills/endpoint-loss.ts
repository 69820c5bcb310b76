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
import { type Simulator, startSimulator } from '../simulator/simulator.ts'
import { until } from '../whole-service/customer.ts'
import { startProcess } from '../whole-service/service-process.ts'

const USAGE = `npm run -s drill -- endpoint-loss [options]

Ingests from two Yellowstone servers (simulators of one market). The one in use is suspended
(SIGSTOP) again and again, so that its connection stays open and silent. Measures how long the log
gets no slot. Then starts ingests whose first server accepts connections and says nothing, and
measures the time to the first slot. Exits with 1 if a slot is missing.

  --rounds N        losses of each kind (20)`

const MARKET = { seed: 1, wallets: 5, coins: 20, trackedPerSlot: 3 }
const FLAGS = ['--seed', '1', '--wallets', '5', '--coins', '20', '--tracked-per-slot', '3']

/** Runs the drill. Returns whether every slot is on the log, in order. */
export async function run(args: readonly string[]): Promise<boolean> {
  const read = readOptions(args, USAGE, { rounds: 20 })
  if (read === null) return true
  const { rounds } = read.options
  const chain = await startSimulator(MARKET) // wallets and RPC
  const programs = [0, 1].map(() => startProcess('infra/simulator/main.js', {}, FLAGS))
  const silent = createServer((socket) => socket.on('error', () => {}).resume()).listen(
    0,
    '127.0.0.1',
  )
  await once(silent, 'listening')
  try {
    const [a = '', b = ''] = await Promise.all(
      programs.map((program) => program.line('YELLOWSTONE_ENDPOINT')),
    )
    printHead('server', 'losses', 'p50 ms', 'p99 ms', 'max ms')
    const show = (name: string, times: readonly number[]) =>
      printRow(name, times.length, ...percentiles(times, 0.5, 0.99, 1).map(Math.round))
    const run = await startRun(chain, [a, b])
    const gaps: number[] = []
    for (let round = 0; round < rounds; round += 1) {
      const before = run.arrivals.length
      await until(
        async () => run.arrivals.length,
        (count) => count >= before + 5,
      )
      const used = programs[run.used() === a ? 0 : 1]?.child
      const from = run.arrivals.length - 1
      used?.kill('SIGSTOP')
      const left = run.used()
      await until(
        async () => run.used(),
        (endpoint) => endpoint !== left,
      )
      const count = run.arrivals.length
      await until(
        async () => run.arrivals.length,
        (now) => now >= count + 2,
      )
      used?.kill('SIGCONT')
      const times = run.arrivals.slice(from).map(({ at }) => at)
      gaps.push(Math.max(...times.slice(1).map((at, index) => at - (times[index] ?? at))))
    }
    show('suspended', gaps)
    const broken = run.arrivals.filter(
      ({ parent }, at) => at > 0 && run.arrivals[at - 1]?.slot !== parent,
    )
    print(`${run.arrivals.length} slots on the log, ${broken.length} not linked to the one before`)
    await run.stop()
    const starts: number[] = []
    for (let round = 0; round < rounds; round += 1) {
      const startedAt = performance.now()
      const hole = `http://127.0.0.1:${(silent.address() as AddressInfo).port}`
      const started = await startRun(chain, [hole, a])
      await until(
        async () => started.arrivals.length,
        (count) => count > 0,
      )
      starts.push((started.arrivals[0]?.at ?? 0) - startedAt)
      await started.stop()
    }
    show('silent, at the start', starts)
    return broken.length === 0
  } finally {
    silent.close()
    await Promise.all(programs.map((program) => program.kill()))
    await chain.close()
  }
}

/** Ingests from some servers. */
async function startRun(chain: Simulator, urls: readonly [string, string]) {
  const logger = createLogger('silent')
  const log = createMemoryLog({ logger, registry: createRegistry() })
  const arrivals: { slot: number; parent: number; at: number }[] = []
  await log.consume({ mode: 'follow', sinceMs: 0 }, async ({ partition, records }) => {
    for (const entry of records)
      if (partition === 0 && entry.kind === 'marker')
        arrivals.push({ ...entry.marker, at: performance.now() })
  })
  let used = ''
  const open: OpenUpdateStream = async (options) => {
    const stream = await openUpdateStream(options)
    const isFollowed = Object.keys(options.request.slots).length > 0
    if (!('kind' in stream) && hasConfirmedBlocks(options.request) && isFollowed)
      used = options.endpoint
    return stream
  }
  const [first, second] = urls.map((endpoint): StreamServer => ({ endpoint, xToken: null }))
  const servers = [first as StreamServer, second as StreamServer] as const // two were given
  const ingest = await startTestIngest(chain, log, {
    openStream: openAmong(servers, { open, logger }),
  })
  return {
    arrivals,
    used: () => used,
    async stop() {
      await ingest.stop()
      await log.close()
    },
  }
}
