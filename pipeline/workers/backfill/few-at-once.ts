/** Does all, `most` at a time, and gives the results in the order of the items. After a failure nothing more is begun, and what is under way is waited for. */
export async function fewAtOnce<T, R>(
  items: readonly T[],
  most: number,
  work: (item: T) => Promise<R>,
): Promise<R[]> {
  const results: R[] = new Array(items.length)
  let next = 0
  let failure: { readonly error: unknown } | null = null
  const worker = async () => {
    while (next < items.length && failure === null) {
      const at = next++
      try {
        results[at] = await work(items[at]!) // below the length
      } catch (error) {
        failure ??= { error }
      }
    }
  }
  await Promise.all(Array.from({ length: Math.min(most, items.length) }, worker))
  if (failure !== null) throw (failure as { readonly error: unknown }).error // set in a closure
  return results
}
