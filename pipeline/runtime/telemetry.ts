import { Counter, Gauge, Histogram, Registry } from 'prom-client'

/** Makes the Prometheus registry of one process; every metric is declared in a `telemetry.ts` with its unit and bounded labels. */
export function createRegistry(): Registry {
  return new Registry()
}

export { Counter, Gauge, Histogram, type Registry }
