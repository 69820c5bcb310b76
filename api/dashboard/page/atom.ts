import { useEffect, useState } from 'preact/hooks'

/** A value shared between components. It is kept in memory only. */
export interface Atom<Value> {
  get(): Value
  /** Calls the listeners if the value is not identical to the current one. */
  set(value: Value): void
  /** Calls `listener` after each change. Returns the function that unsubscribes. */
  subscribe(listener: () => void): () => void
}

/** Creates an atom with its first value. */
export function createAtom<Value>(initial: Value): Atom<Value> {
  const listeners = new Set<() => void>()
  let current = initial
  return {
    get: () => current,
    set(value) {
      if (value === current) return
      current = value
      for (const listener of [...listeners]) listener()
    },
    subscribe(listener) {
      listeners.add(listener)
      return () => listeners.delete(listener)
    },
  }
}

/** Returns the value of an atom. The component renders again when it changes. */
export function useAtom<Value>(atom: Atom<Value>): Value {
  const [value, setValue] = useState(() => ({ is: atom.get() }))
  useEffect(() => {
    const update = () =>
      setValue((before) => (before.is === atom.get() ? before : { is: atom.get() }))
    update() // The atom may have changed between rendering and this effect.
    return atom.subscribe(update)
  }, [atom])
  return value.is
}
