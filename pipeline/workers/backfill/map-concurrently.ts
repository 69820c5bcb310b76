import pMap from 'p-map'

/**
 * Maps items with at most `concurrency` calls of `map` at a time; results are in the order of
 * items. After a failure no further call starts. The promise then rejects, but only once every call
 * that had started has ended, so that no write happens behind the caller's back.
 */
export async function mapConcurrently<T, R>(
  items: readonly T[],
  concurrency: number,
  map: (item: T) => Promise<R>,
): Promise<R[]> {
  const started: Promise<R>[] = []
  const start = (item: T) => {
    const result = map(item)
    started.push(result)
    return result
  }
  try {
    return await pMap(items, start, { concurrency })
  } finally {
    await Promise.allSettled(started)
  }
}
