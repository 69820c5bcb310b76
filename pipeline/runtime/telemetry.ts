import { Counter, collectDefaultMetrics, Gauge, Histogram, Registry } from 'prom-client'
import type { Readiness } from './readiness.ts'

/**
 * Makes the Prometheus registry of one process. Every metric is declared in a `telemetry.ts`, with
 * its unit and bounded labels.
 */
export function createRegistry(): Registry {
  return new Registry()
}

/**
 * Adds prom-client's metrics of the process: CPU and resident memory (`process_*`), heap, garbage
 * collection and event-loop delay (`nodejs_*`). The minimum, mean, maximum and percentiles of the
 * delay cover the time since the last scrape. Each sample includes the sampling period of 10 ms.
 */
export function collectProcessMetrics(registry: Registry): void {
  collectDefaultMetrics({ register: registry })
}

/** Adds the conditions of readiness. They are checked when the metrics are read. */
export function collectReadiness(registry: Registry, readiness: Pick<Readiness, 'read'>): void {
  metricsOf(registry).readings(
    'ready_check_up',
    'Whether a condition of `/readyz` holds (1) or does not (0).',
    ['check'],
    async () => {
      const { checks } = await readiness.read()
      return Object.entries(checks).map(([check, state]) => [{ check }, state === 'ok' ? 1 : 0])
    },
  )
}

/**
 * Returns functions that declare a metric of a registry. `help` says what is measured, and the
 * unit.
 */
export function metricsOf(registry: Registry) {
  const registers = [registry]
  return {
    counter: (name: string, help: string, labelNames: string[] = []) =>
      new Counter({ name, help, labelNames, registers }),
    /**
     * A counter by `label`, which has these values. Each is exported from the start, as 0: rates
     * and alerts do not see the first count of a series that begins with it.
     * Source: https://prometheus.io/docs/practices/instrumentation/#avoid-missing-metrics
     */
    counterOf: <T extends string>(
      name: string,
      help: string,
      label: string,
      values: readonly T[],
    ) => {
      const counter = new Counter({ name, help, labelNames: [label], registers })
      for (const value of values) counter.inc({ [label]: value }, 0)
      return counter
    },
    gauge: (name: string, help: string, labelNames: string[] = []) =>
      new Gauge({ name, help, labelNames, registers }),
    /** A gauge whose samples `read` returns whenever the metrics are read. */
    readings: (name: string, help: string, labelNames: string[], read: ReadSamples) =>
      new Gauge({
        name,
        help,
        labelNames,
        registers,
        async collect() {
          const samples = await read()
          this.reset()
          if (labelNames.length === 0) this.remove() // `reset` has set it to 0
          for (const [labels, value] of samples) this.set(labels, value)
        },
      }),
    histogram: (name: string, help: string, buckets: number[], labelNames: string[] = []) =>
      new Histogram({ name, help, buckets, labelNames, registers }),
  }
}

/** Returns the samples of a gauge now: labels and value. */
type ReadSamples = () => readonly Sample[] | Promise<readonly Sample[]>
type Sample = readonly [labels: Readonly<Record<string, string>>, value: number]

export type { Registry }
