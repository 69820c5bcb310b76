import { LRUCache } from 'lru-cache'
import { batches } from '../../runtime/batches.ts'

/** Runs work once for each key and shares it between callers. */
export interface OncePerKey {
  /**
   * Starts `work` for the keys that have none yet, in batches, and resolves when the work of all
   * `keys` is done. A failure stays with its keys: every later call with one of them rejects too.
   * `keys` must not be more than are remembered.
   */
  run(keys: readonly string[], work: (batch: readonly string[]) => Promise<void>): Promise<void>
  /** Number of keys that are remembered. */
  readonly size: number
}

/**
 * Creates one that remembers the `maxKeys` keys used last, and starts work for `batchSize` keys at
 * a time.
 */
export function createOncePerKey(maxKeys: number, batchSize: number): OncePerKey {
  const tasks = new LRUCache<string, Promise<void>>({ max: maxKeys })
  return {
    async run(keys, work) {
      const missing = keys.filter((key) => !tasks.has(key))
      for (const batch of batches(missing, batchSize)) {
        const task = work(batch)
        for (const key of batch) tasks.set(key, task)
      }
      await Promise.all(keys.map((key) => tasks.get(key)))
    },
    get size() {
      return tasks.size
    },
  }
}
