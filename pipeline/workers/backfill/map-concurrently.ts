import pLimit from 'p-limit'

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
  const limit = pLimit({ concurrency, rejectOnClear: true })
  const results = items.map((item) =>
    limit(async () => {
      try {
        return await map(item)
      } catch (error) {
        limit.clearQueue()
        throw error
      }
    }),
  )
  await Promise.allSettled(results)
  // Cleared items come after the started ones, so the first rejection is a real failure.
  return Promise.all(results)
}
