import { ServiceError } from '../domain/service-error.ts'
import type { Registry } from '../runtime/telemetry.ts'
import type { Store } from './store.ts'
import { exportFailingWrites } from './telemetry.ts'

/** After this long without another attempt, a write that failed no longer counts. */
const FORGOTTEN_MS = 60_000

/**
 * Creates a store whose metrics say for how long writes have failed (`unavailable`). A server may
 * answer pings and reads meanwhile, for example when its disk is full. `now` returns monotonic
 * milliseconds.
 */
export function createWatchedStore(
  store: Store,
  registry: Registry,
  now: () => number = () => performance.now(),
): Store {
  /** By table: when its writes began to fail, and when one failed last. */
  const failing = new Map<string, { readonly since: number; last: number }>()
  exportFailingWrites(registry, () => {
    for (const [table, { last }] of failing) if (now() - last > FORGOTTEN_MS) failing.delete(table)
    return Math.max(0, ...[...failing.values()].map(({ since }) => now() - since)) / 1000
  })
  async function watch(table: string, write: Promise<void>): Promise<void> {
    try {
      await write
      failing.delete(table)
    } catch (error) {
      if (error instanceof ServiceError && error.code === 'unavailable') {
        const known = failing.get(table)
        if (known) known.last = now()
        else failing.set(table, { since: now(), last: now() })
      }
      throw error
    }
  }
  return {
    ...store,
    insert: (table, rows, options) => watch(table, store.insert(table, rows, options)),
    // A statement without a table's name counts as one more table.
    command: (sql, params) => watch('', store.command(sql, params)),
  }
}
