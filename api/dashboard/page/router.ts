import { createCell, useCell } from './cell.ts'
import { type Place, placeOf } from './place.ts'

const place = createCell(placeOf(globalThis.location?.hash ?? ''))

/** Follows the address from now on. */
export function startRouter(): void {
  addEventListener('hashchange', () => place.set(placeOf(location.hash)))
}

export function usePlace(): Place {
  return useCell(place)
}

/** Goes somewhere, as a link would. */
export function go(path: string): void {
  location.hash = path
}
