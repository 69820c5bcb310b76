import { rmSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import { createKafkaLog } from '../../pipeline/log/kafka.ts'
import type { EventLog } from '../../pipeline/log/log.ts'
import { createLogger } from '../../pipeline/runtime/logger.ts'
import { createRegistry } from '../../pipeline/runtime/telemetry.ts'
import { percentiles, print } from '../bench/kit/figures.ts'
import { readOptions } from '../bench/kit/options.ts'
import { killServers, serversStatus, startServers } from '../servers/servers.ts'
import { brokersInSync } from '../simulate/brokers-in-sync.ts'
import { createRandom, type Random } from '../simulator/random.ts'
import { LogLoad, LogReader } from './kit/log-load.ts'

const USAGE = `npm run -s drill -- broker-kill --data DIR [options]

Appends slots to a log on three Kafka brokers, with two readers, while brokers are killed
(SIGKILL) and started again: one after the other at random, then all at once, then one whose
data folder is removed. In between a broker hangs. Exits with 1 if an acknowledged record is lost or out of order.

  --data DIR        folder of a cluster (infra/servers); made if absent, left running
  --kills N         kills of one broker (100)
  --minutes M       fewer kills if they take longer than this (60)
  --seed N          which brokers are killed, and when (of the time)
  --pauses N        how often one broker hangs (SIGSTOP) until it is replaced (3)
  --rate N          slots a second, with 12 records each (100)
  --port-base P     first port (29000, or what the folder was last used with)`

const NODES = ['kafka-1', 'kafka-2', 'kafka-3'] as const
type Node = (typeof NODES)[number]

/** What the steps of the drill work on. */
interface Bed {
  readonly data: string
  readonly random: Random
  readonly load: LogLoad
  /** A member of a consumer group, and a follower. */
  readonly readers: readonly LogReader[]
  /** Resolves when every replica of every topic is in sync. */
  inSync(): Promise<void>
}

/** Runs the drill. Returns whether nothing was lost and the order was kept. */
export async function run(args: readonly string[]): Promise<boolean> {
  const read = readOptions(args, USAGE, {
    data: '',
    kills: 100,
    minutes: 60,
    pauses: 3,
    seed: Date.now() % 1_000_000,
    rate: 100,
    'port-base': 0,
  })
  if (read === null) return true
  const { data, kills, minutes, pauses, seed, rate, 'port-base': portBase } = read.options
  if (data === '') throw new Error(USAGE)
  print(`seed ${seed}`)
  const { KAFKA_BROKERS = '' } = await startServers(data, {
    cluster: true,
    only: 'kafka',
    ...(portBase > 0 && { portBase }),
  })
  const config = {
    brokers: KAFKA_BROKERS.split(','),
    topicPrefix: `drill-${seed}-${Date.now()}-`,
    ssl: false,
    sasl: null,
  }
  const deps = { logger: createLogger('silent'), registry: createRegistry() }
  const log = await createKafkaLog(config, deps)
  try {
    const load = new LogLoad(log)
    const readers = [new LogReader(load), new LogReader(load)] as const
    await log.consume({ mode: 'shared', group: 'drill' }, readers[0].handle)
    await log.consume({ mode: 'follow', sinceMs: 0 }, readers[1].handle)
    const random = createRandom(seed, 'broker-kill')
    const bed: Bed = { data, random, load, readers, inSync: () => brokersInSync(KAFKA_BROKERS) }
    const startedAt = Date.now()
    load.start(rate)
    await killOneByOne(bed, kills, Date.now() + minutes * 60_000)
    await pauseOneByOne(bed, pauses)
    await killAll(bed)
    await loseDisk(bed)
    await load.stop()
    await Promise.all(readers.map((reader) => reader.end()))
    return await report(bed, log, startedAt)
  } finally {
    await log.close()
  }
}

async function killOneByOne(bed: Bed, kills: number, endsAt: number): Promise<void> {
  const times: Recovered[] = []
  for (let kill = 1; kill <= kills && Date.now() < endsAt; kill++) {
    // At times the broker that was killed last has not caught up yet.
    await delay(bed.random.between(0, 1500))
    const node = bed.random.pick(NODES)
    times.push(await killed(bed, node))
    await startServers(bed.data, { only: node })
    if (kill % 10 === 0) process.stderr.write(`${kill} kills, ${bed.load.slots} slots\n`)
  }
  printRecovery(`${times.length} kills of one broker`, times)
}

async function pauseOneByOne(bed: Bed, pauses: number): Promise<void> {
  const times: Recovered[] = []
  for (let pause = 1; pause <= pauses; pause++) {
    await bed.inSync()
    const [broker] = await serversStatus(bed.data, { only: bed.random.pick(NODES) })
    if (!broker?.pid) throw new Error('the broker does not run')
    const since = Date.now()
    process.kill(broker.pid, 'SIGSTOP')
    times.push(await recoveredAfter(bed, since))
    process.kill(broker.pid, 'SIGCONT')
  }
  printRecovery(`${pauses} times one broker that hangs`, times)
}

async function killAll(bed: Bed): Promise<void> {
  const since = Date.now()
  await killServers(bed.data, { only: 'kafka' })
  const recovered = recoveredAfter(bed, since)
  await startServers(bed.data, { only: 'kafka' })
  printRecovery('all three killed at once and started again', [await recovered])
}

/** A broker comes back without its data. Then another one is killed, so its new copy is needed. */
async function loseDisk(bed: Bed): Promise<void> {
  await bed.inSync()
  const [lost, other] = bed.random.shuffle([...NODES])
  if (!lost || !other) return
  const times = [await killed(bed, lost)]
  rmSync(join(bed.data, lost, 'data'), { recursive: true })
  const since = Date.now()
  await startServers(bed.data, { only: lost })
  await bed.inSync()
  print(`a broker without data is in sync again after ${seconds(Date.now() - since)} s`)
  times.push(await killed(bed, other))
  await startServers(bed.data, { only: other })
  printRecovery('that broker killed, and another one when it is in sync', times)
}

/** Milliseconds from a kill to the first acknowledged append, and to the first slot read. */
interface Recovered {
  readonly append: number
  readonly read: number
}

async function killed(bed: Bed, node: Node): Promise<Recovered> {
  const since = Date.now()
  await killServers(bed.data, { only: node })
  return recoveredAfter(bed, since)
}

async function recoveredAfter({ load, readers }: Bed, since: number): Promise<Recovered> {
  const [append, ...reads] = await Promise.all([
    load.acknowledged.after(since),
    ...readers.map((reader) => reader.seen.after(since)),
  ])
  return { append, read: Math.max(...reads) }
}

function printRecovery(title: string, times: readonly Recovered[]): void {
  if (times.length === 0) return
  const quantiles = (of: readonly number[]) => percentiles(of, 0.5, 0.99, 1).map(seconds).join(', ')
  print(`${title}: seconds to the first append, and to the first slot read (p50, p99, max):`)
  print(`  append ${quantiles(times.map(({ append }) => append))}`)
  print(`  read   ${quantiles(times.map(({ read }) => read))}`)
}

const seconds = (ms: number) => (ms / 1000).toFixed(1)

/** Reads the whole log once more, and prints what it and the readers of the drill have seen. */
async function report({ load, readers }: Bed, log: EventLog, startedAt: number): Promise<boolean> {
  const whole = new LogReader(load)
  await log.consume({ mode: 'follow', sinceMs: Date.now() - startedAt + 60_000 }, whole.handle)
  await whole.end()
  const entries = load.entries * load.partitions
  print(
    `${load.slots} slots with ${entries} entries acknowledged, in ${seconds(Date.now() - startedAt)} s`,
  )
  const results = [
    ['the log', whole.result],
    ['member of a group', readers[0]?.result],
    ['follower', readers[1]?.result],
  ] as const
  for (const [who, result] of results)
    print(
      `${who}: ${result?.lost} lost, ${result?.repeated} repeated, ${result?.disordered} out of order`,
    )
  return results.every(([, result]) => result?.lost === 0 && result.disordered === 0)
}
