import { once } from 'node:events'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import yellowstone from '@triton-one/yellowstone-grpc'
import { type Address, address } from '../../pipeline/domain/address.ts'
import { LIVE_START } from '../../pipeline/domain/slot.ts'
import { createWallets } from '../../pipeline/domain/wallets.ts'
import { subscribeRequest } from '../../pipeline/ingest/stream/subscribe-request.ts'
import { openUpdateStream } from '../../pipeline/ingest/stream/yellowstone.ts'
import { readEnvelope } from '../../pipeline/ingest/wire/update-envelope.ts'
import { createMemoryLog } from '../../pipeline/log/memory.ts'
import { createLogger } from '../../pipeline/runtime/logger.ts'
import { createRegistry } from '../../pipeline/runtime/telemetry.ts'
import { startIngest } from '../../pipeline/workers/ingest/ingest.ts'
import { startSimulator } from '../simulator/simulator.ts'
import { startMeter } from './kit/cpu.ts'
import { median, print } from './kit/figures.ts'
import { readOptions } from './kit/options.ts'
import { forkBench } from './kit/processes.ts'

const USAGE = `npm run bench -- ingest [options]

  --slots N        slots of the market (400)
  --per-slot N     transactions of tracked wallets a slot (50)
  --turns N        rounds of each (5)
  --profile        ingest alone, for node --cpu-prof`

/**
 * Transactions per second from a gRPC server in another process through decode to the log in
 * memory, in turn with the package's own client that only receives and counts. Prints each round
 * and the ratio of the medians. `--profile` runs ingest alone, for `node --cpu-prof`.
 */
export async function run(args: readonly string[]): Promise<void> {
  const defaults = { serve: false, slots: 400, 'per-slot': 50, turns: 5, profile: false }
  const read = readOptions(args, USAGE, defaults)
  if (read === null) return
  const { serve: serves, slots, 'per-slot': perSlot, turns, profile } = read.options
  if (serves) return serve({ slots, perSlot })

  const source = await startSource({ slots, perSlot })
  if (profile) {
    for (let turn = 0; turn < turns; turn++) print(show(await ingest(source)))
    return source.stop()
  }
  const bare: Turn[] = []
  const encoded: Turn[] = []
  const whole: Turn[] = []
  for (let turn = 0; turn <= turns; turn++) {
    const received = await receive(source)
    const left = await receiveEncoded(source)
    const ingested = await ingest(source)
    // The first round of each warms the compiler and the server's cache.
    if (turn === 0) continue
    bare.push(received)
    encoded.push(left)
    whole.push(ingested)
    print(`turn ${turn}  bare client             ${show(received)}`)
    print(`        our stream, not decoded ${show(left)}`)
    print(`        ingest to the log       ${show(ingested)}`)
  }
  const speed = (of: readonly Turn[]) => Math.round(median(of.map((turn) => turn.perSecond)))
  const cost = (of: readonly Turn[]) => Math.round(median(of.map((turn) => turn.cpuUs)))
  print(
    `median  bare client ${speed(bare)} tx/s, our stream ${speed(encoded)}, ingest ${speed(whole)}`,
  )
  print(
    `        bare client ${cost(bare)} us of CPU each, our stream ${cost(encoded)}, ingest ${cost(whole)}`,
  )
  print(`ingest is ${Math.round((100 * speed(whole)) / speed(bare))}% of the bare client`)
  source.stop()
}

interface Source {
  readonly endpoint: string
  readonly rpcUrl: string
  readonly wallets: readonly Address[]
  readonly pool: Address
  readonly first: number
  readonly last: number
}

interface Turn {
  readonly transactions: number
  readonly perSecond: number
  /** CPU of this process a transaction, in microseconds. */
  readonly cpuUs: number
}

/** The server process: a market whose slots are all over and encoded, so that it only sends. */
async function serve(size: { slots: number; perSlot: number }): Promise<void> {
  const first = 405_000_000
  const simulator = await startSimulator({
    clock: { kind: 'manual', startSlot: first },
    wallets: 100,
    trackedPerSlot: size.perSlot,
    othersPerSlot: 0,
    replaySlots: size.slots * 2,
  })
  simulator.advance(size.slots)
  // Ingest calls this RPC server once at start. A run without faults fetches nothing else.
  const rpc = createServer((_, response) => response.end('{"jsonrpc":"2.0","id":1,"result":1}'))
  await once(rpc.listen(0, '127.0.0.1'), 'listening')
  const rpcUrl = `http://127.0.0.1:${(rpc.address() as AddressInfo).port}`
  const { endpoint, wallets, solPricePool: pool, confirmedSlot: last } = simulator
  process.send?.({ endpoint, rpcUrl, wallets, pool, first, last } satisfies Source)
  process.once('disconnect', () => process.exit(0))
}

async function startSource(size: { slots: number; perSlot: number }) {
  const flags = ['--serve', '--slots', String(size.slots), '--per-slot', String(size.perSlot)]
  const { child, message } = await forkBench<Source>(['ingest', ...flags])
  return { ...message, stop: () => child.disconnect() }
}

/** The source of ingest: counts every update and leaves its bytes alone. */
async function receiveEncoded(source: Source): Promise<Turn> {
  const meter = startMeter()
  let transactions = 0
  let close = () => {}
  await new Promise<void>((resolve, reject) => {
    const opening = openUpdateStream({
      endpoint: source.endpoint,
      xToken: null,
      request: requestOf(source),
      onUpdate(bytes) {
        const envelope = readEnvelope(bytes)
        if (envelope?.kind === 'transaction') transactions++
        if (envelope?.kind === 'slot' && envelope.slot === source.last) resolve()
      },
      onEnd: (end) => reject(new Error(`the stream ended: ${end.kind}`)),
    })
    opening.then((stream) => {
      if ('kind' in stream) reject(new Error(`no stream: ${stream.kind}`))
      else close = stream.close
    }, reject)
  })
  const turn = turnOf(meter, transactions)
  close()
  return turn
}

function requestOf(source: Source) {
  return subscribeRequest({
    wallets: createWallets(source.wallets),
    accounts: [source.pool],
    fromSlot: source.first + 1,
  })
}

/** The package's client, used as in its README. It decodes and counts every update. */
async function receive(source: Source): Promise<Turn> {
  // The package's types describe its CommonJS build, where the class is the `default` of the
  // namespace; Node loads its ES build.
  const Client = yellowstone as unknown as typeof yellowstone.default
  const client = new Client(source.endpoint, undefined, {
    grpcMaxDecodingMessageSize: 256 * 1024 * 1024,
  })
  await client.connect()
  const meter = startMeter()
  const stream = await client.subscribe(requestOf(source))
  let transactions = 0
  await new Promise<void>((resolve, reject) => {
    stream.on('error', reject)
    stream.on('data', (update) => {
      if (update.transaction !== undefined) transactions++
      if (update.slot?.slot === String(source.last)) resolve()
    })
  })
  const turn = turnOf(meter, transactions)
  stream.removeAllListeners('error')
  stream.on('error', () => {})
  stream.destroy()
  return turn
}

async function ingest(source: Source): Promise<Turn> {
  const logger = createLogger('error')
  const log = createMemoryLog({ logger, registry: createRegistry() })
  const registry = createRegistry()
  const meter = startMeter()
  const running = await startIngest({
    config: {
      endpoint: source.endpoint,
      xToken: null,
      rpcUrl: source.rpcUrl,
      pricePool: address(source.pool),
      priceMaxAgeSeconds: 3600,
    },
    wallets: createWallets(source.wallets),
    log,
    resumePoint: async () => ({
      ...LIVE_START,
      checkpoint: {
        slot: source.first,
        parent: source.first - 1,
        blockTime: 1,
        solPrice: null,
        blockId: null,
        finalized: null,
      },
    }),
    logger,
    registry,
    limits: { recheckSlots: 0 },
  })
  while (running.status()?.slot !== source.last) {
    await new Promise((resolve) => setTimeout(resolve, 2))
  }
  const counted = await registry.getSingleMetric('ingest_transactions_total')?.get()
  const turn = turnOf(meter, counted?.values[0]?.value ?? 0)
  await running.stop()
  await log.close()
  return turn
}

/** Figures of one round, from a meter started at the beginning of the round. */
function turnOf(meter: ReturnType<typeof startMeter>, transactions: number): Turn {
  const { seconds, cpuSeconds } = meter()
  const cpuUs = (cpuSeconds * 1e6) / transactions
  return { transactions, perSecond: transactions / seconds, cpuUs }
}

function show({ transactions, perSecond, cpuUs }: Turn): string {
  return `${transactions} tx, ${Math.round(perSecond)} tx/s, ${Math.round(cpuUs)} us of CPU each`
}
