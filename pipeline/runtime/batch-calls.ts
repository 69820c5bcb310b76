/**
 * Returns a function of one key whose calls are answered together. `run` gets the keys of the calls
 * that came while its last call was under way, at most `most` of them, and returns a value for each
 * key that has one. Calls with one key share a value, unless it is already being read. If `run`
 * rejects, the calls of that batch reject.
 */
export function batchCalls<K, V>(
  run: (keys: readonly K[]) => Promise<ReadonlyMap<K, V>>,
  most: number,
): (key: K) => Promise<V | undefined> {
  const waiting = new Map<K, Call<V>>()
  let isRunning = false

  async function answerAll(): Promise<void> {
    isRunning = true
    await new Promise(setImmediate) // for the other calls of this turn
    while (waiting.size > 0) await answer(takeFirst(waiting, most))
    isRunning = false
  }

  async function answer(calls: ReadonlyMap<K, Call<V>>): Promise<void> {
    try {
      const values = await run([...calls.keys()])
      for (const [key, { resolve }] of calls) resolve(values.get(key))
    } catch (error) {
      for (const { reject } of calls.values()) reject(error)
    }
  }

  return (key) => {
    const known = waiting.get(key)
    if (known !== undefined) return known.answer
    const call = createCall<V>()
    waiting.set(key, call)
    if (!isRunning) void answerAll()
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
  return { answer, ...settle }
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
