import { ServiceError } from '../domain/service-error.ts'
import type { Store } from './store.ts'

/**
 * The store for those who answer somebody: a query or ping that has not ended within `timeoutMs` is told as `unavailable`, so that a server that hangs
 * looks like one that is gone. The query goes on until the client gives it up. Writes are passed on as they are: their outcome has to be known.
 */
export function createTimelyStore(store: Store, timeoutMs: number): Store {
  return {
    ...store,
    query: (sql, params, columns) => inTime(store.query(sql, params, columns), timeoutMs),
    ping: () => inTime(store.ping(), timeoutMs),
  }
}

/** What `asked` comes to, or `unavailable` when that takes longer than `timeoutMs`. */
export async function inTime<T>(asked: Promise<T>, timeoutMs: number): Promise<T> {
  let timer: NodeJS.Timeout | undefined
  const late = new Promise<never>((_, reject) => {
    timer = setTimeout(() => {
      const why = `the store does not answer within ${timeoutMs} ms`
      reject(new ServiceError('unavailable', why, { retriable: true }))
    }, timeoutMs)
  })
  try {
    return await Promise.race([asked, late])
  } finally {
    clearTimeout(timer)
  }
}
