/** Memoises `make`: computes the result for each argument once and caches it for ever. */
export function memo<K, V>(make: (key: K) => V): (key: K) => V {
  const known = new Map<K, V>()
  return (key) => {
    let found = known.get(key)
    if (found === undefined) {
      found = make(key)
      known.set(key, found)
    }
    return found
  }
}

/** Adds an item to the list of a key. */
export function addTo<K, T>(lists: Map<K, T[]>, key: K, item: T): void {
  const list = lists.get(key)
  if (list === undefined) lists.set(key, [item])
  else list.push(item)
}
