import { setTimeout as pause } from 'node:timers/promises'
import type { Store } from '../../../pipeline/store/store.ts'
import { SLOT_MS } from '../../simulator/market/slot-time.ts'
import { Customer } from '../../whole-service/customer.ts'
import { requestMix } from '../api/mix.ts'
import { type GeneratorResult, startGenerator } from '../api/start-generator.ts'
import type { AtEnd } from '../kit/at-end.ts'
import { cpuSeconds } from '../kit/cpu.ts'
import { print } from '../kit/figures.ts'
import { residentMiB } from '../kit/resident.ts'
import { type Backlog, describeBacklog, readBacklog, untilDrained } from './backlog.ts'
import { confirmedAt, confirmedSlot } from './due.ts'
import type { FeedFigures } from './protocol.ts'
import type { Rig } from './rig.ts'

/** The state of everything at one time. */
export interface LoadSample {
  readonly minute: number
  readonly backlog: Backlog
  /** By process or server. */
  readonly use: ReadonlyMap<string, ProcessUse>
}

/** Resident memory of a process, and seconds of CPU since its start. */
export interface ProcessUse {
  readonly mib: number
  readonly cpu: number
}

/** Milliseconds that the simulator's event loop stood still. */
export interface Stalls {
  readonly p99: number
  readonly max: number
}

/** What was measured under a constant load. */
export interface LoadFigures {
  readonly seconds: number
  /** At the start, about every minute, and at the end. */
  readonly samples: readonly LoadSample[]
  readonly feed: FeedFigures
  readonly stalls: Stalls
  readonly rest: GeneratorResult
  /** Swaps of that time that were stored at its end. */
  readonly swaps: number
  /** Inserts into ClickHouse in that time. */
  readonly inserts: number
}

/** What was measured of a burst: until all stages had caught up, or the time was up. */
export interface BurstFigures {
  readonly slots: number
  /** Seconds from the end of the burst. */
  readonly seconds: number
  readonly isGone: boolean
  readonly backlog: Backlog
  readonly feed: FeedFigures
  readonly stalls: Stalls
}

const CONNECTIONS = 128
const WARM_UP_SECONDS = 3
const FEWEST_SAMPLES = 4
/** Longest time until the backlog of the start, or of a burst, is gone. */
const DRAINED_MS = 600_000

/** Sends requests at a constant rate for some minutes, and watches everything meanwhile. */
export async function measureLoad(
  rig: Rig,
  options: {
    readonly store: Store
    readonly folder: string
    readonly wallets: number
    readonly answers: number
    readonly minutes: number
    /** Numbers of the servers' processes, by name. */
    readonly servers: ReadonlyMap<string, number>
  },
  atEnd: AtEnd,
): Promise<LoadFigures> {
  const { store, folder, wallets, answers, minutes, servers } = options
  const { url, key } = rig
  const paths = await pathsOf(store, rig, wallets)
  const start = await untilDrained(() => readBacklog(rig), DRAINED_MS)
  print(`slots behind ${start.seconds.toFixed(0)} s later: ${describeBacklog(start.backlog)}`)
  const seconds = minutes * 60
  const generator = startGenerator(folder, {
    url,
    key,
    paths,
    seconds,
    perSecond: answers,
    connections: CONNECTIONS,
    warmUpSeconds: WARM_UP_SECONDS,
  })
  atEnd(() => generator.kill())
  await generator.line('counting')
  const processes = new Map([...rig.pids, ...servers])
  processes.set('REST clients', generator.child.pid ?? 0)
  await readFeed(rig)
  const firstSlot = confirmedSlot(Date.now())
  const insertsBefore = await countInserts(store)
  const startedAt = performance.now()
  const samples = [await takeSample(0, rig, processes, new Map())]
  const count = Math.max(FEWEST_SAMPLES, Math.round(minutes))
  for (let n = 1; n <= count; n += 1) {
    await pause(startedAt + (n * seconds * 1000) / count - performance.now())
    const earlier = samples.at(-1)?.use ?? new Map()
    const sample = await takeSample((n * minutes) / count, rig, processes, earlier)
    samples.push(sample)
    print(`minute ${sample.minute.toFixed(1)}, slots behind: ${describeBacklog(sample.backlog)}`)
  }
  const figures = {
    ...(await readFeed(rig)),
    swaps: await countSwaps(store, firstSlot),
    inserts: (await countInserts(store)) - insertsBefore,
  }
  const rest = JSON.parse(await generator.line('result')) as GeneratorResult
  return { seconds, samples, rest, ...figures }
}

/** The stored swaps from a slot on. */
export async function countSwaps(store: Store, firstSlot: number): Promise<number> {
  const [row] = await store.query<{ swaps: string }>(
    'SELECT count() AS swaps FROM swaps WHERE slot >= {firstSlot:UInt64}',
    { firstSlot },
  )
  return Number(row?.swaps)
}

/** All inserts since the start of the server. */
async function countInserts(store: Store): Promise<number> {
  const [row] = await store.query<{ inserts: string }>(
    "SELECT sum(value) AS inserts FROM system.events WHERE event = 'InsertQuery'",
  )
  return Number(row?.inserts)
}

/** Has all copies of the wallets trade for some seconds, and waits until the backlog is gone. */
export async function measureBurst(rig: Rig, seconds: number): Promise<BurstFigures> {
  const slots = Math.ceil((seconds * 1000) / SLOT_MS)
  await readFeed(rig)
  const { to } = await rig.market.ask({ kind: 'burst', slots }, 'burst')
  await pause(confirmedAt(to - 1) - Date.now())
  print(`slots behind after a burst: ${describeBacklog(await readBacklog(rig))}`)
  const drained = await untilDrained(() => readBacklog(rig), DRAINED_MS)
  return { slots, ...drained, ...(await readFeed(rig)) }
}

/** What came on the sockets, and how the simulator stood still, since the last call. */
async function readFeed({ followers, market }: Rig) {
  return {
    feed: await followers.ask({ kind: 'report' }, 'report'),
    stalls: await market.ask({ kind: 'stalls' }, 'stalls'),
  }
}

/** Throws if a process of the service has ended. */
async function takeSample(
  minute: number,
  rig: Rig,
  processes: ReadonlyMap<string, number>,
  earlier: LoadSample['use'],
): Promise<LoadSample> {
  const use = new Map(
    [...processes].map(([name, pid]) => {
      return [name, useOf(pid) ?? earlier.get(name) ?? { mib: 0, cpu: 0 }] as const
    }),
  )
  return { minute, backlog: await readBacklog(rig), use }
}

/** Null once the process has ended, as the generator has before a late last sample. */
function useOf(pid: number): ProcessUse | null {
  try {
    const use = { mib: residentMiB(pid), cpu: cpuSeconds(pid) }
    return Number.isNaN(use.mib) ? null : use
  } catch {
    return null
  }
}

/**
 * The mix of requests, for stored mints and all wallets. Asks once for a leaderboard, whose first
 * reading in a process takes long; later ones are read beside the requests (rule L10).
 */
async function pathsOf(store: Store, { url, key }: Rig, wallets: number): Promise<string[]> {
  const customer = new Customer(url, key)
  const startedAt = performance.now()
  await customer.get('/wallets?sort=pnl&period=30d')
  const seconds = (performance.now() - startedAt) / 1000
  print(`the first leaderboard of the process after ${seconds.toFixed(1)} s`)
  const mints = await store.query<{ mint: string }>('SELECT mint FROM mints LIMIT 2000')
  const { status, body } = await customer.get<{ next_cursor: string }>('/trades')
  if (status !== 200) throw new Error(`GET /trades: ${status} ${JSON.stringify(body)}`)
  const cursors = [body.next_cursor]
  return requestMix(2000, { mints: mints.map(({ mint }) => mint), cursors, wallets })
}
