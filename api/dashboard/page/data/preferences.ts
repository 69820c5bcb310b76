import { createAtom, useAtom } from '../atom.ts'

/** Choices that apply to every page. They are kept in memory only. */
export interface Preferences {
  /** Show all digits, times in UTC, and full addresses. */
  readonly showsExact: boolean
  /** Load paid data when a page opens, without a click. */
  readonly loadsOnOpen: boolean
}

const preferences = createAtom<Preferences>({ showsExact: false, loadsOnOpen: false })

/** Returns the preferences, and the function that changes some of them. */
export function usePreferences(): [Preferences, (change: Partial<Preferences>) => void] {
  return [useAtom(preferences), (change) => preferences.set({ ...preferences.get(), ...change })]
}
