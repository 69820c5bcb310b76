/**
 * A run fails when nothing has progressed for this long. A busy machine takes a minute to start a
 * process.
 */
export const STALLED_MS = 300_000

/**
 * The result of `work`. Rejects with an error that names `what` after `ms`; the work itself
 * continues, and a later failure is ignored.
 */
export async function within<T>(ms: number, what: string, work: Promise<T>): Promise<T> {
  let timer: NodeJS.Timeout | undefined
  const over = new Promise<never>((_, reject) => {
    timer = setTimeout(() => reject(new Error(`waited ${ms / 1000} s for ${what}`)), ms)
  })
  work.catch(() => {}) // handled by the race, or too late
  try {
    return await Promise.race([work, over])
  } finally {
    clearTimeout(timer)
  }
}
