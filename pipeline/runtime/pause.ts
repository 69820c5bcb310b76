import { once } from 'node:events'
import { setTimeout as delay } from 'node:timers/promises'
import { ServiceError } from '../domain/service-error.ts'

/**
 * Resolves after `ms` milliseconds, or as soon as `signal` aborts; never rejects. The caller checks
 * whether the signal has aborted.
 */
export async function pause(ms: number, signal: AbortSignal): Promise<void> {
  await delay(ms, undefined, { signal }).catch(() => {})
}

/** Settles as `work` does, or rejects with `closed` as soon as `signal` aborts. */
export async function orClosed<T>(work: Promise<T>, signal: AbortSignal): Promise<T> {
  const finished = new AbortController()
  const { signal: isFinished } = finished
  const aborted = (async () => {
    if (!signal.aborted) await once(signal, 'abort', { signal: isFinished })
    throw new ServiceError('closed', 'it stops')
  })()
  try {
    return await Promise.race([work, aborted])
  } finally {
    finished.abort()
    aborted.catch(() => {})
  }
}
