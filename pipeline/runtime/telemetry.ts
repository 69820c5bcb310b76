import { Counter, collectDefaultMetrics, Gauge, Histogram, Registry } from 'prom-client'

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

/**
 * Returns functions that declare a metric of a registry. `help` says what is measured, and the
 * unit.
 */
export function metricsOf(registry: Registry) {
  const registers = [registry]
  return {
    counter: (name: string, help: string, labelNames: string[] = []) =>
      new Counter({ name, help, labelNames, registers }),
    gauge: (name: string, help: string, labelNames: string[] = []) =>
      new Gauge({ name, help, labelNames, registers }),
    histogram: (name: string, help: string, buckets: number[], labelNames: string[] = []) =>
      new Histogram({ name, help, buckets, labelNames, registers }),
  }
}

export type { Registry }
