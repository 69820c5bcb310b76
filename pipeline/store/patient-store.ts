import { randomUUID } from 'node:crypto'
import { ServiceError } from '../domain/service-error.ts'
import type { Logger } from '../runtime/logger.ts'
import { pause } from '../runtime/pause.ts'
import type { Store } from './store.ts'

/** Pauses between attempts, in milliseconds: they double from the first to the last. */
const PAUSES = { first: 100, last: 5000 }

/**
 * The store for those who must not lose what they hold: while the server is away (`unavailable`) every call waits and is made again, without
 * end, until `signal` aborts (`closed`). An insert keeps its deduplication token over all attempts, so that one whose answer was lost is not
 * stored twice.
 */
export function createPatientStore(store: Store, signal: AbortSignal, logger: Logger): Store {
  async function patiently<T>(run: () => Promise<T>): Promise<T> {
    for (let pauseMs = PAUSES.first; ; pauseMs = Math.min(2 * pauseMs, PAUSES.last)) {
      if (signal.aborted) throw new ServiceError('closed', 'stopped while waiting for the store')
      try {
        return await run()
      } catch (error) {
        if (!(error instanceof ServiceError && error.code === 'unavailable')) throw error
        logger.warn({ reason: error.message, pauseMs }, 'store lost, waiting')
      }
      await pause(pauseMs, signal)
    }
  }
  return {
    kind: store.kind,
    query: (sql, params, columns) => patiently(() => store.query(sql, params, columns)),
    insert: (table, rows, options) => {
      const dedupToken = options?.dedupToken ?? randomUUID()
      return patiently(() => store.insert(table, rows, { ...options, dedupToken }))
    },
    command: (sql, params) => patiently(() => store.command(sql, params)),
    ping: () => store.ping(),
    close: () => store.close(),
  }
}
