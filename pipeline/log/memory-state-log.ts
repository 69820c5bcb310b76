import { ServiceError } from '../domain/service-error.ts'
import type { StateEntry, StateHandler, StateLog } from './state-log.ts'

/**
 * Returns a log of states in one process. It keeps nothing: an append resolves when every follower
 * has handled it.
 */
export function createMemoryStateLog(partitions: number): StateLog {
  const followers = new Set<StateHandler>()
  const ends = Array.from({ length: partitions }, () => 0n)
  let isClosed = false
  let lastAppend: Promise<unknown> = Promise.resolve()

  return {
    partitions,
    append(messages) {
      const done = lastAppend.then(async () => {
        if (isClosed) throw new ServiceError('closed', 'the log is closed')
        const batches = [...messages].map(([partition, message]) => {
          const offset = ends[partition] ?? 0n
          ends[partition] = offset + 1n
          const entry: StateEntry = { offset, ...message }
          return { partition, records: [entry] }
        })
        await Promise.all(
          [...followers].flatMap((handler) => batches.map((batch) => handler(batch))),
        )
      })
      lastAppend = done.catch(() => {})
      return done
    },
    async follow(handler) {
      await lastAppend
      followers.add(handler)
      return {
        async close() {
          followers.delete(handler)
          await lastAppend
        },
      }
    },
    async close() {
      isClosed = true
      followers.clear()
    },
  }
}
