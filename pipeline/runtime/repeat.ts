/**
 * Runs `run` every `ms` milliseconds, never twice at once: while a run takes longer, the next ones
 * are left out. `run` must not reject. Returns a function that stops it, and resolves after the run
 * under way.
 */
export function repeat(ms: number, run: () => Promise<void>): () => Promise<void> {
  let running: Promise<void> | null = null
  const timer = setInterval(() => {
    running ??= run().finally(() => {
      running = null
    })
  }, ms)
  return async () => {
    clearInterval(timer)
    await running
  }
}
