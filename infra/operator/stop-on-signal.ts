/** A signal that Ctrl-C and SIGTERM abort: a command then ends where it can be continued. */
export function stopOnSignal(): AbortSignal {
  const stopping = new AbortController()
  for (const signal of ['SIGINT', 'SIGTERM'] as const) process.once(signal, () => stopping.abort())
  return stopping.signal
}
