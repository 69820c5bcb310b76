import { Counter, collectDefaultMetrics, Gauge, Histogram, Registry } from 'prom-client'

/** Makes the Prometheus registry of one process; every metric is declared in a `telemetry.ts` with its unit and bounded labels. */
export function createRegistry(): Registry {
  return new Registry()
}

/**
 * Adds the process's own metrics, as prom-client names them: CPU and resident memory (`process_*`),
 * heap, garbage collection and event-loop delay (`nodejs_*`). The delay's minimum, mean, maximum
 * and percentiles cover the time since the last scrape; each sample includes the sampling period of
 * 10 ms.
 */
export function collectProcessMetrics(registry: Registry): void {
  collectDefaultMetrics({ register: registry })
}

export { Counter, Gauge, Histogram, type Registry }
