/** A signal that Ctrl-C and SIGTERM abort: a command then ends where it can be continued. */
export function stopOnSignal(): AbortSignal {
  const stopping = new AbortController()
  for (const signal of ['SIGINT', 'SIGTERM'] as const) process.once(signal, () => stopping.abort())
  return stopping.signal
}

/** Rejects once the signal aborts: race the work with it that is to be left then. */
export function interruption(stopping: AbortSignal): Promise<never> {
  const interrupted = new Promise<never>((_, reject) => {
    stopping.addEventListener('abort', () => reject(new Error('interrupted')))
  })
  interrupted.catch(() => {}) // it may come before the race
  return interrupted
}
