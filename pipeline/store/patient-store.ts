import { randomUUID } from 'node:crypto'
import { ServiceError } from '../domain/service-error.ts'
import type { Logger } from '../runtime/logger.ts'
import { createOutageLog } from '../runtime/outage-log.ts'
import { pause } from '../runtime/pause.ts'
import type { Store } from './store.ts'

/** Pauses between attempts, in milliseconds: they double from the first to the last. */
const PAUSES = { first: 100, last: 5000 }

/**
 * Creates a store for workers, which must not lose data: while the server is unreachable
 * (`unavailable`), every call is retried until `signal` aborts, and then rejects with `closed`. An
 * insert keeps its deduplication token over all attempts, so that it is stored once even if a
 * response was lost.
 */
export function createPatientStore(store: Store, signal: AbortSignal, logger: Logger): Store {
  const outage = createOutageLog(logger, 'store lost, waiting', 'store is back')
  async function patiently<T>(run: () => Promise<T>): Promise<T> {
    for (let pauseMs = PAUSES.first; ; pauseMs = Math.min(2 * pauseMs, PAUSES.last)) {
      if (signal.aborted) throw new ServiceError('closed', 'stopped while waiting for the store')
      try {
        const result = await run()
        outage.worked()
        return result
      } catch (error) {
        if (!(error instanceof ServiceError && error.code === 'unavailable')) throw error
        outage.failed({ reason: error.message })
      }
      await pause(pauseMs, signal)
    }
  }
  return {
    kind: store.kind,
    replicas: store.replicas,
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
