import type { Socket } from 'node:net'

/**
 * Destroys each connection whose client takes no byte of a response for `stallTimeoutMs`. Node's
 * socket timeout does not do it: whatever the client sends re-arms that timer. Checks are counted,
 * not milliseconds, so that a process without CPU blames no client. Returns the function that stops
 * the checks.
 */
export function endStalled(
  sockets: ReadonlySet<Socket>,
  isAnswering: (socket: Socket) => boolean,
  stallTimeoutMs: number,
): () => void {
  /** Progress at the last check, and the number of checks since it changed. */
  const waiting = new WeakMap<Socket, { readonly progress: string; readonly checks: number }>()
  const timer = setInterval(() => {
    for (const socket of sockets) {
      if (!isAnswering(socket) || socket.writableLength === 0) {
        waiting.delete(socket)
        continue
      }
      const progress = progressOf(socket)
      const before = waiting.get(socket)
      const checks = before?.progress === progress ? before.checks + 1 : 0
      if (checks < CHECKS) waiting.set(socket, { progress, checks })
      else socket.destroy()
    }
  }, stallTimeoutMs / CHECKS)
  timer.unref()
  return () => clearInterval(timer)
}

/** Checks within `stallTimeoutMs`. */
const CHECKS = 6

/** Changes whenever the kernel takes more of what was written to a connection. */
function progressOf(socket: Socket): string {
  // Not in the public API; Node's own socket timeout compares it. It shows progress within one
  // large write, which the public counters do not.
  const { _handle: handle } = socket as { _handle?: { readonly writeQueueSize?: number } | null }
  return `${socket.bytesWritten - socket.writableLength}:${handle?.writeQueueSize}`
}
