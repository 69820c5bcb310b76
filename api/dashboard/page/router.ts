import { createAtom, useAtom } from './atom.ts'
import { type HashLocation, parseHash } from './hash-location.ts'

const current = createAtom(parseHash(globalThis.location?.hash ?? ''))

/** Starts to follow changes of the URL hash. */
export function startRouter(): void {
  addEventListener('hashchange', () => current.set(parseHash(location.hash)))
}

/** Returns the current location. The component renders again when it changes. */
export function useHashLocation(): HashLocation {
  return useAtom(current)
}
