import { randomBytes } from 'node:crypto'
import { cpus, loadavg } from 'node:os'
import { join } from 'node:path'
import bs58 from 'bs58'
import WebSocket from 'ws'
import type { OnStage, SlotStage } from '../../pipeline/runtime/slot-stage.ts'
import { loadConfig } from '../service/config.ts'
import { startService } from '../service/service.ts'
import { SLOT_MS } from '../simulator/market/slot-time.ts'
import {
  commandOutcome,
  type ServiceProcess,
  startOperator,
  startProcess,
} from '../whole-service/service-process.ts'
import { percentiles, print, printHead, printRow, sum } from './kit/figures.ts'
import { inFolder } from './kit/folder.ts'
import { readModes, withMode } from './kit/modes.ts'
import { readOptions } from './kit/options.ts'

const USAGE = `npm run bench -- latency [options]

  --slots N         slots measured in each mode (1000)
  --slot-ms N       length of the market's slots (100)
  --per-slot N      transactions of tracked wallets a slot (5)
  --mode M          embedded, servers or cluster, or several with commas between (embedded,servers)`

/** Slots before the first measured one, which warm the compiler. */
const WARM_UP = 50

/**
 * Milliseconds from receiving a slot's block meta and `confirmed`, whichever is later, to its
 * trades written to the socket of a client that takes everything, stage by stage. The market is a
 * separate process. The service with all its roles and the client are this process, so that one
 * clock is read. Runs embedded, and with Kafka, ClickHouse and Redis (those of the environment, or
 * servers started here and stopped at the end).
 */
export async function run(args: readonly string[]): Promise<void> {
  const defaults = { slots: 1000, 'slot-ms': 100, 'per-slot': 5, mode: 'embedded,servers' }
  const read = readOptions(args, USAGE, defaults)
  if (read === null) return
  const { slots, 'slot-ms': slotMs, 'per-slot': perSlot } = read.options
  const modes = readModes(read.options.mode, ['embedded', 'servers', 'cluster'])
  if (modes === null) return print(USAGE)
  const market: Market = { slotMs, perSlot }
  const measureIn = (env: Env) => inFolder((folder) => measure(slots, market, env, folder))
  print(`${slots} slots of ${market.slotMs} ms, ${market.perSlot} transactions each`)
  for (const mode of modes) await withMode(mode, async (env) => report(mode, await measureIn(env)))
}

type Env = Readonly<Record<string, string>>

interface Market {
  readonly slotMs: number
  readonly perSlot: number
}

/** The times of each stage of a slot, in milliseconds of one clock. */
type Times = { [stage in SlotStage]?: number }

interface Measured {
  readonly slots: readonly Required<Times>[]
  readonly trades: number
}

async function measure(
  slots: number,
  market: Market,
  servers: Env,
  folder: string,
): Promise<Measured> {
  const simulator = startMarket(market, join(folder, 'wallets.txt'))
  try {
    await simulator.line('WALLETS_FILE')
    const env = {
      OPERATOR_CONFIRM_CREDITS: '1000000000000',
      ...Object.fromEntries(simulator.lines),
      ...servers,
      DATA_DIR: join(folder, 'data'),
      PORT: '0',
      METRICS_PORT: '0',
      LOG_LEVEL: 'warn',
    }
    const recorder = createRecorder(slots)
    const service = await startService(loadConfig(env), { onStage: recorder.onStage })
    try {
      const url = service.lines.find((line) => line.startsWith('url='))?.slice('url='.length) ?? ''
      const client = await follow(url, await createAccount(env))
      await Promise.race([recorder.done, client.closed, service.failed])
      const trades = client.trades()
      client.close()
      return { slots: recorder.measured(), trades }
    } finally {
      await service.stop()
    }
  } finally {
    await simulator.stop()
  }
}

/** Another length of slots is another speed of the market's clock. */
function startMarket({ slotMs, perSlot }: Market, walletsFile: string): ServiceProcess {
  const flags = {
    speed: SLOT_MS / slotMs,
    'tracked-per-slot': perSlot,
    'wallets-file': walletsFile,
  }
  const args = Object.entries(flags).flatMap(([name, value]) => [`--${name}`, String(value)])
  return startProcess('infra/simulator/main.js', {}, args)
}

async function createAccount(env: Env): Promise<string> {
  const wallet = bs58.encode(randomBytes(32))
  const args = ['account', 'create', '--wallet', wallet, '--credits', '1000000000']
  const { code, document } = await commandOutcome(startOperator(env, args))
  if (code !== 0) throw new Error(`no account: ${JSON.stringify(document)}`)
  return (document as { api_key: string }).api_key // rule J3
}

/** A customer's socket that takes every trade. */
async function follow(url: string, key: string) {
  const socket = new WebSocket(`${url.replace('http', 'ws')}/ws`, {
    headers: { authorization: `Bearer ${key}` },
  })
  let trades = 0
  const closed = new Promise<never>((_, reject) => {
    socket.on('error', reject)
    socket.on('close', (code) => reject(new Error(`the socket closed: ${code}`)))
  })
  closed.catch(() => {}) // it is closed at the end, too
  const subscribed = new Promise<void>((resolve) => {
    socket.on('open', () => socket.send('{"action":"subscribe","channels":["trades"]}'))
    socket.on('message', (message) => {
      if (String(message).startsWith('{"channel":"trades"')) trades++
      else if (String(message).includes('"subscribed"')) resolve()
    })
  })
  await Promise.race([subscribed, closed])
  return { trades: () => trades, closed, close: () => socket.close() }
}

/**
 * Records the times of slots until `slots` slots are complete, not counting the warm-up.
 */
function createRecorder(slots: number) {
  const open = new Map<number, Times>()
  const complete: Required<Times>[] = []
  let finish = () => {}
  const done = new Promise<void>((resolve) => {
    finish = resolve
  })
  const onStage: OnStage = (stage, slot) => {
    const now = performance.now()
    const times = open.get(slot) ?? {}
    open.set(slot, times)
    // Stages of a slot that is sealed already are repetitions.
    if (stage !== 'received' || times.sealed === undefined) times[stage] = now
    if (!isComplete(times)) return
    open.delete(slot)
    complete.push(times)
    if (complete.length === WARM_UP + slots) finish()
  }
  return { onStage, done, measured: () => complete.slice(WARM_UP, WARM_UP + slots) }
}

const STAGES = ['received', 'sealed', 'decoded', 'appended', 'merged', 'written'] as const

function isComplete(times: Times): times is Required<Times> {
  return STAGES.every((stage) => times[stage] !== undefined)
}

/** Time between two stages; the relay may get a slot before its writer is acknowledged. */
const SPANS: Readonly<Record<string, (times: Required<Times>) => number>> = {
  'received -> sealed': ({ received, sealed }) => sealed - received,
  'sealed -> decoded': ({ sealed, decoded }) => decoded - sealed,
  'decoded -> acknowledged': ({ decoded, appended, merged }) =>
    Math.min(appended, merged) - decoded,
  'acknowledged -> merged': ({ appended, merged }) => Math.max(0, merged - appended),
  'merged -> written': ({ merged, written }) => written - merged,
}

function report(mode: string, { slots, trades }: Measured): void {
  const total = slots.map(({ received, written }) => written - received)
  print(`\n${mode}: ${slots.length} slots, ${trades} trades taken by the client (warm-up included)`)
  print(`${cpus().length} cores, load average of the last minute ${loadavg()[0]?.toFixed(1)}\n`)
  printHead('stage', 'p50 ms', 'p99 ms', 'max ms', 'share')
  const row = (name: string, values: readonly number[]) => {
    const quantiles = percentiles(values, 0.5, 0.99, 1).map((ms) => ms.toFixed(2))
    printRow(name, ...quantiles, `${((100 * sum(values)) / sum(total)).toFixed(0)}%`)
  }
  for (const [name, span] of Object.entries(SPANS)) row(name, slots.map(span))
  row('received -> written', total)
}
