/** Work done once a key, whoever asks for it meanwhile; keys are forgotten, the oldest first, beyond the newest `most`. */
export interface OnceEach {
  /** Begins the work for those of the keys that are not known, some at a time, and resolves when that of all keys is done. A failure stays with its keys. */
  all(keys: readonly string[], begin: (keys: readonly string[]) => Promise<void>): Promise<void>
  /** How many keys are known. */
  readonly size: number
}

/** `atOnce`: keys that `begin` gets at most. */
export function createOnceEach(most: number, atOnce: number): OnceEach {
  const tasks = new Map<string, Promise<void>>()
  return {
    async all(keys, begin) {
      const unknown = keys.filter((key) => !tasks.has(key))
      for (let at = 0; at < unknown.length; at += atOnce) {
        const some = unknown.slice(at, at + atOnce)
        const task = begin(some)
        for (const key of some) tasks.set(key, task)
      }
      const asked = keys.map((key) => tasks.get(key))
      for (const key of tasks.keys()) {
        if (tasks.size <= most) break
        tasks.delete(key)
      }
      await Promise.all(asked)
    },
    get size() {
      return tasks.size
    },
  }
}
