import { setTimeout as delay } from 'node:timers/promises'

/**
 * Resolves after `ms` milliseconds, or as soon as `signal` aborts; never rejects. The caller checks
 * whether the signal has aborted.
 */
export async function pause(ms: number, signal: AbortSignal): Promise<void> {
  await delay(ms, undefined, { signal }).catch(() => {})
}
