import { createRequire } from 'node:module'

const require = createRequire(import.meta.url)

/** Times of the wall clock that kafkajs 2.2.4 compares with a later one: by file, a field of it. */
const TIMES = {
  /** When the last heartbeat was answered: none is sent until some time after it. */
  'consumer/consumerGroup.js': 'lastRequest',
  /** When a request was sent. It times out, and events tell its duration. */
  'network/requestQueue/socketRequest.js': 'sentAt',
  /** No request is sent to a broker before. */
  'network/requestQueue/index.js': 'throttledUntil',
}

/**
 * Lets a step of the wall clock move the times that the client has noted before it. Otherwise a
 * member of a group whose clock was days fast for a moment sends no heartbeat for days. It is then
 * evicted and never notices, because its handlers wait for one. A request during which the clock
 * jumps ahead would time out.
 */
export function moveTimesWithClock(): void {
  for (const [file, field] of Object.entries(TIMES)) {
    const { prototype } = require(`kafkajs/src/${file}`) as { readonly prototype: object }
    /** By object: the time, by the monotonic clock. */
    const times = new WeakMap<object, number | null>()
    Object.defineProperty(prototype, field, {
      get(this: object): number | null {
        const at = times.get(this) ?? null
        return at === null ? null : at - performance.now() + Date.now()
      },
      set(this: object, time: number | null) {
        times.set(this, time === null ? null : time - Date.now() + performance.now())
      },
    })
  }
}
