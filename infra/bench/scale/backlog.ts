import { setTimeout as pause } from 'node:timers/promises'
import { median, print } from '../kit/figures.ts'
import { confirmedSlot } from './due.ts'
import { readGauge, readText } from './gauge.ts'
import type { Rig } from './rig.ts'

/** The stages that a slot passes: `API` serves what is stored, `feed` sends what is on the log. */
export const STAGES = ['simulator', 'ingest', 'workers', 'API', 'feed'] as const
export type Stage = (typeof STAGES)[number]

/** How many slots each stage is behind the one before it: the simulator behind the clock. */
export type Backlog = Readonly<Record<Stage, number>>

/** A stage that is at most so far behind has no backlog: a slot takes as long to pass it. */
const NO_BACKLOG_SLOTS = 5
const POLL_MS = 500
/** Waiting says where it is, so often. */
const SAY_MS = 30_000
/** A service that shows the same place after so long has nothing left to do. */
const STILL_MS = 5000

/**
 * Reads how far the stages are behind. A stage that has seen no slot is behind by its number.
 * Rejects with what a process said that has ended.
 */
export async function readBacklog({ market, fleet, url }: Rig): Promise<Backlog> {
  fleet.supervise()
  const due = confirmedSlot(Date.now())
  // In the order of the stages: what moves between two readings must not look like a backlog.
  const { confirmed } = await market.ask({ kind: 'slot' }, 'slot')
  const onLog = await readGauge(fleet.of('ingest')[0]?.metricsPort ?? 0, 'ingest_slot')
  const stored = await readGauge(fleet.of('workers')[0]?.metricsPort ?? 0, 'fold_slot')
  const status = JSON.parse(await readText(`${url}/status`)) as Status
  const behind = (slot: number | null, of: number) => Math.max(0, of - (slot ?? 0))
  return {
    simulator: behind(confirmed, due),
    ingest: behind(onLog, confirmed),
    workers: behind(stored, onLog),
    API: behind(status.storage.slot, stored),
    feed: behind(status.feed.slot, onLog),
  }
}

/**
 * Stops ingest. Resolves once everything on the log is stored and served, with the block time of
 * the newest slot in unix seconds.
 */
export async function untilStill({ fleet, url }: Rig): Promise<number> {
  const [ingest] = fleet.of('ingest')
  await ingest?.process?.stop()
  for (let last: string | null = null; ; await pause(STILL_MS)) {
    const text = await readText(`${url}/status`)
    const { storage, feed } = JSON.parse(text) as Status
    const place = JSON.stringify([storage, feed])
    if (place === last && storage.block_time !== null && storage.slot === feed.slot)
      return storage.block_time
    last = place
  }
}

/** The part of `GET /status` that is read here (rule J4). */
interface Status {
  readonly storage: { readonly slot: number | null; readonly block_time: number | null }
  readonly feed: { readonly slot: number | null }
}

/**
 * Waits until no stage has a backlog, at most `mostMs` milliseconds. Resolves with the last
 * backlog, the seconds until then, and whether it is gone.
 */
export async function untilDrained(read: () => Promise<Backlog>, mostMs: number) {
  const startedAt = performance.now()
  for (let says = 1; ; ) {
    const backlog = await read()
    const ms = performance.now() - startedAt
    if (ms >= says * SAY_MS) {
      print(`slots behind after ${(ms / 1000).toFixed(0)} s: ${describeBacklog(backlog)}`)
      says += 1
    }
    const isGone = STAGES.every((stage) => backlog[stage] <= NO_BACKLOG_SLOTS)
    if (isGone || ms > mostMs) return { backlog, seconds: ms / 1000, isGone }
    await pause(POLL_MS)
  }
}

/** The stages and how many slots each is behind the one before it. */
export function describeBacklog(backlog: Backlog): string {
  return STAGES.map((stage) => `${stage} ${backlog[stage]}`).join(', ')
}

/**
 * The stages that do not keep up: in the second half of the samples they are further behind than in
 * the first.
 */
export function growingStages(samples: readonly Backlog[]): Stage[] {
  const first = samples.slice(0, Math.floor(samples.length / 2))
  const second = samples.slice(Math.ceil(samples.length / 2))
  const medianOf = (some: readonly Backlog[], stage: Stage) => median(some.map((one) => one[stage]))
  return STAGES.filter(
    (stage) => medianOf(second, stage) > medianOf(first, stage) + NO_BACKLOG_SLOTS,
  )
}
