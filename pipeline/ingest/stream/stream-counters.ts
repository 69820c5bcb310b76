import type { IngestMetrics } from '../telemetry.ts'
import type { UpdateEnvelope } from '../wire/update-envelope.ts'
import type { DropCounts } from './sealer-events.ts'

/**
 * Counts updates between two flushes to the metrics. Incrementing a counter with labels for each
 * update would cost more than reading its envelope.
 */
export interface StreamCounters {
  /** Counts one update; null for bytes that are not an update. */
  received(envelope: UpdateEnvelope | null, bytes: number): void
  /** Adds what was counted since the last flush to the metrics. `dropped` holds totals. */
  flush(dropped: Readonly<DropCounts>): void
}

/** Counters that start at zero. */
export function createStreamCounters(
  metrics: Pick<IngestMetrics, 'updates' | 'updateBytes' | 'malformed' | 'dropped'>,
): StreamCounters {
  const updates = new Map<string, number>()
  let updateBytes = 0
  let flushed: Readonly<DropCounts> = { duplicate: 0, passed_over: 0, too_old: 0 }

  return {
    received(envelope, bytes) {
      const kind = envelope?.kind ?? 'malformed'
      updates.set(kind, (updates.get(kind) ?? 0) + 1)
      updateBytes += bytes
      if (envelope === null) metrics.malformed.inc({ reason: 'not_an_update' })
    },
    flush(dropped) {
      for (const [kind, count] of updates) metrics.updates.inc({ kind }, count)
      updates.clear()
      metrics.updateBytes.inc(updateBytes)
      updateBytes = 0
      for (const reason of ['duplicate', 'passed_over', 'too_old'] as const) {
        metrics.dropped.inc({ reason }, dropped[reason] - flushed[reason])
      }
      flushed = { ...dropped }
    },
  }
}
