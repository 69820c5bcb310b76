/** Event-loop delay between two scrapes in milliseconds, and memory at the second one. */
export interface Sample {
  /** Seconds between the scrapes. */
  readonly seconds: number
  readonly mean: number
  readonly p50: number
  readonly p90: number
  readonly p99: number
  readonly max: number
  /** Milliseconds for which the service's main thread was ready but had no core; null: unknown. */
  readonly cpuWaitMs: number | null
  readonly memory: Memory
}

/** In bytes. */
export interface Memory {
  readonly resident: number
  /** Memory of JavaScript: on V8's heap and outside it. */
  readonly held: number
}

const MAX_GROWTH = 1.1
/**
 * Growth of the embedded service's resident memory without requests: 20 MiB per minute in its first
 * minutes, caused by the store.
 */
const IDLE_GROWTH_PER_SECOND = (20 * 1024 * 1024) / 60

/**
 * Whether memory is within 10% of what it was that many seconds before: JavaScript's, and resident
 * memory without the store's own growth.
 */
export function isMemoryBack(before: Memory, after: Memory, seconds: number): boolean {
  const idle = seconds * IDLE_GROWTH_PER_SECOND
  return (
    after.held <= before.held * MAX_GROWTH && after.resident <= before.resident * MAX_GROWTH + idle
  )
}

/**
 * Reads a scrape of `/metrics`; null when a figure is missing, as when the event loop had no tick
 * since the last one.
 */
export function readSample(
  text: string,
  seconds: number,
  cpuWaitMs: number | null = null,
): Sample | null {
  const value = (name: string) =>
    Number(new RegExp(`^${name} (.+)$`, 'm').exec(text)?.[1] ?? Number.NaN)
  const lag = (name: string) => value(`nodejs_eventloop_lag_${name}_seconds`) * 1000
  const sample: Sample = {
    seconds,
    cpuWaitMs,
    mean: lag('mean'),
    p50: lag('p50'),
    p90: lag('p90'),
    p99: lag('p99'),
    max: lag('max'),
    memory: {
      resident: value('process_resident_memory_bytes'),
      held: value('nodejs_heap_size_used_bytes') + value('nodejs_external_memory_bytes'),
    },
  }
  const figures = [sample.mean, sample.p99, ...Object.values(sample.memory)]
  return figures.some(Number.isNaN) ? null : sample
}

/**
 * Upper bound of the p99 of the event-loop delay over several scrapes, in milliseconds. Each scrape
 * counts half of its ticks as its p50, the next 40% as its p90, the next 9% as its p99 and the rest
 * as its maximum.
 */
export function mergedP99(samples: readonly Sample[]): number {
  const parts = samples.flatMap(({ seconds, mean, p50, p90, p99, max }) => {
    const ticks = (seconds * 1000) / Math.max(mean, 1)
    return [
      { value: p50, weight: ticks * 0.5 },
      { value: p90, weight: ticks * 0.4 },
      { value: p99, weight: ticks * 0.09 },
      { value: max, weight: ticks * 0.01 },
    ]
  })
  parts.sort((a, b) => a.value - b.value)
  const total = parts.reduce((sum, { weight }) => sum + weight, 0)
  let below = 0
  for (const { value, weight } of parts) {
    below += weight
    if (below >= total * 0.99 - 1e-9) return value
  }
  return Number.NaN
}
