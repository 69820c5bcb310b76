import { createRequire } from 'node:module'

/** The part of a connection's request queue in kafkajs 2.2.4 that is used here. */
export interface RequestQueue {
  readonly pending: readonly unknown[]
  scheduleCheckPendingRequests(): void
}

const require = createRequire(import.meta.url)
/** The class of the client's request queues. */
export const RequestQueueClass: {
  readonly prototype: RequestQueue
} = require('kafkajs/src/network/requestQueue/index.js')

/**
 * Stops the timer that each connection of kafkajs 2.2.4 sets every millisecond, also while nothing
 * waits to be sent (https://github.com/tulios/kafkajs/issues/1704). Requests that do wait are
 * checked as before.
 */
export function stopIdleTimers(): void {
  const { prototype } = RequestQueueClass
  const schedule = prototype.scheduleCheckPendingRequests
  prototype.scheduleCheckPendingRequests = function (this: RequestQueue) {
    if (this.pending.length > 0) schedule.call(this)
  }
}
