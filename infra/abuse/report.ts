import { loadavg } from 'node:os'
import { percentiles, sum } from '../bench/kit/figures.ts'
import type { CustomerCall, Monitor } from './monitor.ts'
import type { Result } from './run.ts'
import { type Memory, mergedP99 } from './samples.ts'

/** Targets of a run. */
const MAX_LOOP_P99_MS = 50
/**
 * If other processes use a larger fraction of the cores than this, the event-loop delay is reported
 * but not judged.
 */
const MAX_OTHERS_PART = 0.2

/** The results of a run. */
export interface Run {
  readonly results: readonly Result[]
  readonly samples: Monitor['samples']
  readonly calls: readonly CustomerCall[]
  /** Fraction of all cores that other processes used while each service was attacked. */
  readonly othersParts: readonly number[]
  /** Memory before and after, of each service that was started. */
  readonly memory: readonly {
    readonly before: Memory
    readonly after: Memory
    readonly isBack: boolean
  }[]
}

const MIB = 1024 * 1024

/**
 * The report of a run as Markdown, and the missed targets. `judgesFigures`: whether event-loop
 * delay and memory count; a short run measures them too roughly.
 */
export function report(
  run: Run,
  judgesFigures = true,
): {
  readonly text: string
  readonly missed: readonly string[]
} {
  const { results, samples, calls, memory } = run
  const kinds = [...new Set(['quiet', ...results.map(({ kind }) => kind)])]
  const isAttacked = ({ kind }: { kind: string }) => kind !== 'quiet' && kinds.includes(kind)
  const attacked = samples.filter(isAttacked)
  const failed = results.filter(({ faults }) => faults.length > 0)
  const othersPart = Math.max(0, ...run.othersParts)
  const { missed, unjudged } = judge(run, kinds, judgesFigures)
  const loads = loadavg().map((load) => load.toFixed(1))
  const text = [
    '| kind | cases | failed | 5xx | slowest ms | loop p99 ms | loop max ms | waits for a core | resident MiB | customer p50 ms | p99 ms | failed |',
    '| --- | --- | --- | --- | --- | --- | --- | --- | --- | --- | --- | --- |',
    ...kinds.map((kind) => {
      const own = <T extends { readonly kind: string }>(all: readonly T[]) =>
        all.filter((one) => one.kind === kind)
      return row(kind, own(results), own(samples), own(calls))
    }),
    row('total', results, attacked, calls.filter(isAttacked)),
    '',
    ...memory.map((one) => `Memory: ${memoryText(one)}`),
    `Event-loop delay p99 ${mergedP99(attacked).toFixed(1)} ms; load average ${loads.join(', ')}; other processes had ${(othersPart * 100).toFixed(0)}% of the machine.`,
    ...unjudged.map((aim) => `NOT JUDGED, in a short run or on a busy machine: ${aim}`),
    '',
    ...failed.map(
      ({ kind, title, faults, note }) => `- ${kind}, ${title}: ${faults.join('; ')}\n  ${note}`,
    ),
    '',
    ...missed.map((aim) => `MISSED: ${aim}`),
  ].join('\n')
  return { text, missed }
}

/** The targets that a run has missed, and those that it would have missed had they been judged. */
function judge(
  { results, samples, calls, memory, othersParts }: Run,
  kinds: readonly string[],
  judgesFigures: boolean,
): { readonly missed: string[]; readonly unjudged: string[] } {
  const failed = results.filter(({ faults }) => faults.length > 0)
  const serverErrors = sum(results.map((one) => one.serverErrors))
  const lost = calls.filter(({ status }) => status !== 200)
  const slowKinds = kinds.filter(
    (kind) => mergedP99(samples.filter((one) => one.kind === kind)) > MAX_LOOP_P99_MS,
  )
  const slow = `event-loop delay p99 over ${MAX_LOOP_P99_MS} ms: ${slowKinds.join(', ')}`
  const grown = memory
    .filter(({ isBack }) => !isBack)
    .map((one) => `memory not back within 10%: ${memoryText(one)}`)
  const aims: readonly (readonly [isMissed: boolean, aim: string, isJudged: boolean])[] = [
    [serverErrors > 0, `${serverErrors} answers were 5xx`, true],
    [failed.length > 0, `${failed.length} cases failed`, true],
    [slowKinds.length > 0, slow, judgesFigures && Math.max(0, ...othersParts) <= MAX_OTHERS_PART],
    [
      lost.length > 0,
      `${lost.length} calls of the quiet customer failed: ${statusesOf(lost)}`,
      true,
    ],
    ...grown.map((aim) => [true, aim, judgesFigures] as const),
  ]
  const missedOf = (judged: boolean) =>
    aims.flatMap(([isMissed, aim, isJudged]) => (isMissed && isJudged === judged ? [aim] : []))
  return { missed: missedOf(true), unjudged: missedOf(false) }
}

function row(
  kind: string,
  results: readonly Result[],
  samples: Monitor['samples'],
  calls: readonly CustomerCall[],
): string {
  const [p50 = 0, p99 = 0] = percentiles(
    calls.map((call) => call.ms),
    0.5,
    0.99,
  )
  const cells = [
    kind,
    results.length,
    results.filter(({ faults }) => faults.length > 0).length,
    sum(results.map((one) => one.serverErrors)),
    results.reduce((most, { ms }) => Math.max(most, ms), 0).toFixed(0),
    ms(mergedP99(samples)),
    ms(samples.reduce((most, { max }) => Math.max(most, max), 0)),
    waits(samples),
    samples.length > 0 ? mib(Math.max(...samples.map(({ memory }) => memory.resident))) : '',
    ms(p50),
    ms(p99),
    calls.filter(({ status }) => status !== 200).length,
  ]
  return `| ${cells.join(' | ')} |`
}

/**
 * Fraction of the time in which the service's main thread was ready but had no core: a delay of the
 * machine, not of the service.
 */
function waits(samples: Monitor['samples']): string {
  const seconds = sum(samples.map((one) => one.seconds))
  const waitedMs = sum(samples.map((one) => one.cpuWaitMs ?? 0))
  return seconds > 0 ? `${(waitedMs / seconds / 10).toFixed(0)}%` : ''
}

const mib = (bytes: number) => (bytes / MIB).toFixed(0)
const ms = (value: number) => (value > 0 ? value.toFixed(1) : '')

function statusesOf(calls: readonly CustomerCall[]): string {
  const statuses = [...new Set(calls.map(({ status }) => status))]
  return statuses
    .map(
      (status) =>
        `${calls.filter((call) => call.status === status).length} times ${status || 'no answer'}`,
    )
    .join(', ')
}

function memoryText({ before, after }: Run['memory'][number]): string {
  return `resident ${mib(before.resident)} MiB before, ${mib(after.resident)} after; heap and external ${mib(before.held)} before, ${mib(after.held)} after`
}
