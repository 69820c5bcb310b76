import type { ApiMiddleware } from './context.ts'

/**
 * Delays finished responses to the end of the current turn of the event loop, and sends them one
 * after the other. The first write to a sleeping client wakes it, which costs more than the write
 * itself; the following writes find it awake. An idle server adds no delay.
 */
export function batchSends(): ApiMiddleware {
  let endOfTurn: Promise<void> | null = null
  return async function sendTogether(_ctx, next) {
    await next()
    endOfTurn ??= new Promise((resolve) => {
      setImmediate(() => {
        endOfTurn = null
        resolve()
      })
    })
    await endOfTurn
  }
}
