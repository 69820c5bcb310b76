import { useEffect, useState } from 'preact/hooks'

/** A value that several views look at, in memory alone. */
export interface Cell<Value> {
  get(): Value
  set(value: Value): void
  /** Calls back after each change, until what it gives is called. */
  subscribe(listener: () => void): () => void
}

export function createCell<Value>(initial: Value): Cell<Value> {
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

/** The value of a cell; the view is drawn anew when it changes. */
export function useCell<Value>(cell: Cell<Value>): Value {
  const [value, setValue] = useState(() => ({ is: cell.get() }))
  useEffect(() => {
    const look = () =>
      setValue((before) => (before.is === cell.get() ? before : { is: cell.get() }))
    look() // it may have changed since the view was drawn
    return cell.subscribe(look)
  }, [cell])
  return value.is
}
