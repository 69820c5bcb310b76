import { useEffect, useState } from 'preact/hooks'

/** What whoever looks has chosen, for as long as the page is open; it is kept nowhere else. */
export interface Preferences {
  /** Show every digit, times in UTC and addresses whole. */
  readonly isFull: boolean
  /** Ask for what a page shows as soon as it is opened, though that costs credits. */
  readonly isEager: boolean
}

let preferences: Preferences = { isFull: false, isEager: false }
const listeners = new Set<() => void>()

/** The choices, and a way to change some of them for every page. */
export function usePreferences(): [Preferences, (change: Partial<Preferences>) => void] {
  const [, redraw] = useState(0)
  useEffect(() => {
    const listener = () => redraw((count) => count + 1)
    listeners.add(listener)
    return () => {
      listeners.delete(listener)
    }
  }, [])
  return [preferences, choose]
}

function choose(change: Partial<Preferences>): void {
  preferences = { ...preferences, ...change }
  for (const listener of listeners) listener()
}
