import { SLOT_MS } from '../../simulator/market/slot-time.ts'
import { printHead, printRow } from '../kit/figures.ts'
import { describeBacklog, growingStages } from './backlog.ts'
import type { BurstFigures, LoadFigures } from './measure.ts'

/** Everything that the bench has measured. */
export interface ScaleFigures {
  readonly load: LoadFigures
  /** Null: there was no burst. */
  readonly burst: BurstFigures | null
  /** Bytes on disk for each swap since the service started, with all that is stored beside it. */
  readonly kafkaBytes: number
  /** Of them the log of states. */
  readonly stateBytes: number
  readonly clickhouseBytes: number
}

/** Prints the figures as one table. */
export function printReport(figures: ScaleFigures): void {
  const { load, burst } = figures
  const { seconds, samples, feed, stalls, rest } = load
  printHead('figure', 'value')
  printRow('stored swaps a second', (load.swaps / seconds).toFixed(0))
  printRow('slot to socket, ms: p50, p99, max', each(feed.p50, feed.p99, feed.max))
  printRow('simulator stood still, a part of these, ms: p99, max', each(stalls.p99, stalls.max))
  printRow('trades on all sockets a second', (feed.trades / seconds).toFixed(0))
  printRow('bytes of a trade on a socket', meanOf(feed.bytes, feed.trades))
  printRow('sockets that the service closed', feed.closed)
  const restMs = rest.answered > 0 ? [rest.p50, rest.p99] : []
  printRow('REST, ms: p50, p99', restMs.map((ms) => ms.toFixed(1)).join(', ') || 'none')
  printRow(
    'REST: answered, refused with 503, failed',
    each(rest.answered, rest.refused, rest.failed),
  )
  printRow('REST: bytes of the body of an answer', meanOf(rest.bytes, rest.answered))
  printRow(
    'inserts into ClickHouse a slot',
    ((load.inserts / seconds) * (SLOT_MS / 1000)).toFixed(1),
  )
  for (const { minute, backlog } of samples)
    printRow(`slots behind, minute ${minute.toFixed(1)}`, describeBacklog(backlog))
  const growing = growingStages(samples.map(({ backlog }) => backlog))
  printRow('stages whose backlog grows', growing.join(', ') || 'none')
  for (const [name, used] of usesOf(load)) printRow(name, used)
  printRow('bytes on disk a new swap: Kafka', figures.kafkaBytes.toFixed(0))
  printRow('of them the log of states', figures.stateBytes.toFixed(0))
  printRow(
    'bytes on disk a new swap: ClickHouse, not all merged',
    figures.clickhouseBytes.toFixed(0),
  )
  for (const [name, value] of burst === null ? [] : burstRows(burst)) printRow(name, value)
}

function meanOf(bytes: number, count: number): string {
  return count > 0 ? (bytes / count).toFixed(0) : 'none'
}

/** Whole numbers; null is a latency of nothing. */
function each(...values: readonly (number | null)[]): string {
  return values.map((value) => value?.toFixed(0) ?? 'none').join(', ')
}

function usesOf({ samples, seconds }: LoadFigures): [string, string][] {
  const ends = [samples[0], samples[Math.floor(samples.length / 2)], samples.at(-1)]
  return [...(samples[0]?.use.keys() ?? [])].map((name) => {
    const [first, half, last] = ends.map((sample) => sample?.use.get(name) ?? { mib: 0, cpu: 0 })
    const mib = [first, half, last].map((use) => use?.mib ?? 0)
    const share = ((last?.cpu ?? 0) - (first?.cpu ?? 0)) / seconds
    return [
      `${name}: MiB at the start, half way, at the end; CPU`,
      `${each(...mib)}; ${(100 * share).toFixed(0)}% of a core`,
    ]
  })
}

function burstRows(burst: BurstFigures): [string, string][] {
  const left = burst.isGone ? 'gone' : `not gone (${describeBacklog(burst.backlog)})`
  return [
    [
      `backlog of a burst of ${burst.slots} slots`,
      `${left} ${burst.seconds.toFixed(1)} s after its end`,
    ],
    ['slot to socket until then, ms: max', each(burst.feed.max)],
    ['simulator stood still until then, ms: max', each(burst.stalls.max)],
  ]
}
