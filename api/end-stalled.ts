import type { Socket } from 'node:net'

/**
 * Destroys each connection whose client takes no byte of an answer for `stallTimeoutMs`, at the
 * latest a sixth of that later. Node's socket timeout does not do it: whatever the client sends
 * re-arms that timer. Returns the function that stops the checks.
 */
export function endStalled(
  sockets: ReadonlySet<Socket>,
  isAnswering: (socket: Socket) => boolean,
  stallTimeoutMs: number,
): () => void {
  const waiting = new WeakMap<Socket, { readonly unsent: string; readonly since: number }>()
  const timer = setInterval(() => {
    const now = performance.now()
    for (const socket of sockets) {
      if (!isAnswering(socket) || socket.writableLength === 0) {
        waiting.delete(socket)
        continue
      }
      const unsent = progressOf(socket)
      const before = waiting.get(socket)
      if (before?.unsent !== unsent) waiting.set(socket, { unsent, since: now })
      else if (now - before.since >= stallTimeoutMs) socket.destroy()
    }
  }, stallTimeoutMs / 6)
  timer.unref()
  return () => clearInterval(timer)
}

/** Changes whenever the kernel takes more of what was written to a connection. */
function progressOf(socket: Socket): string {
  // Not in the public API; Node's own socket timeout compares it. It shows progress within one
  // large write, which the public counters do not.
  const { _handle: handle } = socket as { _handle?: { readonly writeQueueSize?: number } | null }
  return `${socket.bytesWritten - socket.writableLength}:${handle?.writeQueueSize}`
}
