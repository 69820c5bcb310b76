import { ServiceError } from '../domain/service-error.ts'
import type { Store } from './store.ts'

/**
 * Creates a store for request handlers: a query or ping that takes longer than `timeoutMs` rejects
 * with `unavailable`, as if the server were unreachable. The query itself goes on until the
 * engine's timeout. Writes have no such limit, because their outcome has to be known.
 */
export function createTimelyStore(store: Store, timeoutMs: number): Store {
  return {
    ...store,
    query: (sql, params, columns) => inTime(store.query(sql, params, columns), timeoutMs),
    ping: () => inTime(store.ping(), timeoutMs),
  }
}

/**
 * Resolves or rejects as `work` does, or with `unavailable` after `timeoutMs`. `who` is to answer.
 */
export async function inTime<T>(
  work: Promise<T>,
  timeoutMs: number,
  who = 'the store',
): Promise<T> {
  let timer: NodeJS.Timeout | undefined
  const late = new Promise<never>((_, reject) => {
    timer = setTimeout(() => {
      const why = `${who} does not answer within ${timeoutMs} ms`
      reject(new ServiceError('unavailable', why))
    }, timeoutMs)
  })
  try {
    return await Promise.race([work, late])
  } finally {
    clearTimeout(timer)
  }
}
