/** So long nothing may have come nearer before a run gives up: a busy machine takes a minute to start a process. */
export const STILL_MS = 300_000

/** What `work` comes to; rejects when that takes longer than `ms`, naming what was waited for. The work itself goes on, its failure is nobody's then. */
export async function within<T>(ms: number, what: string, work: Promise<T>): Promise<T> {
  let timer: NodeJS.Timeout | undefined
  const over = new Promise<never>((_, reject) => {
    timer = setTimeout(() => reject(new Error(`waited ${ms / 1000} s for ${what}`)), ms)
  })
  work.catch(() => {}) // told by the race, or too late
  try {
    return await Promise.race([work, over])
  } finally {
    clearTimeout(timer)
  }
}
