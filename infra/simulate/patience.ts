/**
 * A run fails when nothing has progressed for this long. A busy machine takes a minute to start a
 * process.
 */
export const STALLED_MS = 300_000

/**
 * The result of `work`. Rejects with an error that names `what` once `ms` have passed since the
 * call and since `progressedAt` (unix milliseconds); the work itself continues, and a later failure
 * is ignored.
 */
export async function within<T>(
  ms: number,
  what: string,
  work: Promise<T>,
  progressedAt: () => number = () => 0,
): Promise<T> {
  let timer: NodeJS.Timeout | undefined
  const startedAt = Date.now()
  const over = new Promise<never>((_, reject) => {
    const wait = () => {
      const left = Math.max(startedAt, progressedAt()) + ms - Date.now()
      if (left > 0) timer = setTimeout(wait, left)
      else reject(new Error(`waited ${ms / 1000} s for ${what}`))
    }
    wait()
  })
  work.catch(() => {}) // handled by the race, or too late
  try {
    return await Promise.race([work, over])
  } finally {
    clearTimeout(timer)
  }
}
