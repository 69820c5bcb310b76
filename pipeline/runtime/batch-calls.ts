/** Bounds of batched calls. */
export interface BatchLimits {
  /** Keys in one batch. */
  readonly most: number
  /** Batches under way at the same time. */
  readonly atOnce: number
}

/**
 * Returns a function of one key whose calls are answered in batches: the calls of a turn of the
 * event loop together, and those that came while `atOnce` batches were under way. `run` gets the
 * keys and returns a value for each key that has one. Calls with one key share a value, unless it
 * is already being read. If `run` rejects, the calls of that batch reject.
 */
export function batchCalls<K, V>(
  run: (keys: readonly K[]) => Promise<ReadonlyMap<K, V>>,
  { most, atOnce }: BatchLimits,
): (key: K) => Promise<V | undefined> {
  const waiting = new Map<K, Call<V>>()
  let underWay = 0
  let isScheduled = false

  function begin(): void {
    isScheduled = false
    while (waiting.size > 0 && underWay < atOnce) void answer(takeFirst(waiting, most))
  }

  async function answer(calls: ReadonlyMap<K, Call<V>>): Promise<void> {
    underWay++
    try {
      const values = await run([...calls.keys()])
      for (const [key, { resolve }] of calls) resolve(values.get(key))
    } catch (error) {
      for (const { reject } of calls.values()) reject(error)
    }
    underWay--
    begin()
  }

  return (key) => {
    const known = waiting.get(key)
    if (known !== undefined) return known.answer
    const call = createCall<V>()
    waiting.set(key, call)
    if (!isScheduled && underWay < atOnce) {
      isScheduled = true
      setImmediate(begin)
    }
    return call.answer
  }
}

interface Call<V> {
  readonly answer: Promise<V | undefined>
  resolve(value: V | undefined): void
  reject(error: unknown): void
}

function createCall<V>(): Call<V> {
  let settle: Pick<Call<V>, 'resolve' | 'reject'> = { resolve() {}, reject() {} }
  const answer = new Promise<V | undefined>((resolve, reject) => {
    settle = { resolve, reject }
  })
  return { answer, resolve: settle.resolve, reject: settle.reject }
}

function takeFirst<K, T>(from: Map<K, T>, most: number): Map<K, T> {
  const taken = new Map<K, T>()
  for (const [key, value] of from) {
    if (taken.size >= most) break
    taken.set(key, value)
    from.delete(key)
  }
  return taken
}
