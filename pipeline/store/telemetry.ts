import { metricsOf, type Registry } from '../runtime/telemetry.ts'

/** Exports for how many seconds writes have failed. */
export function exportFailingWrites(registry: Registry, seconds: () => number): void {
  metricsOf(registry).readings(
    'store_writes_failing_seconds',
    'Seconds for which all writes to a table of ClickHouse have failed; of the table where that is longest.',
    [],
    () => [[{}, seconds()]],
  )
}
