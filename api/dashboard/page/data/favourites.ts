import { useAtom } from '../atom.ts'
import { createStoredAtom } from '../stored-atom.ts'
import { isAlias, isTokenAddress } from './identifiers.ts'

/** A wallet or a token that the customer marked. */
export type Favourite =
  | { readonly kind: 'wallet'; readonly id: string }
  | { readonly kind: 'token'; readonly id: string; readonly symbol: string | null }

/** How many favourites are kept at most. The oldest are removed first. */
export const MAX_FAVOURITES = 200

const favourites = createStoredAtom<readonly Favourite[]>('favourites', [], parseFavourites)

/** Returns the favourites, newest first, and the function that adds or removes one. */
export function useFavourites(): [readonly Favourite[], (favourite: Favourite) => void] {
  const list = useAtom(favourites)
  return [list, (favourite) => favourites.set(toggleFavourite(favourites.get(), favourite))]
}

/** Whether two favourites are the same wallet or the same token. */
export function isSameFavourite(one: Favourite, other: Favourite): boolean {
  return one.kind === other.kind && one.id === other.id
}

/** Returns the list without `favourite` if it has it, else with it at the top. */
export function toggleFavourite(
  list: readonly Favourite[],
  favourite: Favourite,
): readonly Favourite[] {
  const others = list.filter((other) => !isSameFavourite(other, favourite))
  return others.length < list.length ? others : [favourite, ...list].slice(0, MAX_FAVOURITES)
}

/** Returns the favourites of a stored list. Entries that are none are left out. */
export function parseFavourites(stored: unknown): readonly Favourite[] | null {
  if (!Array.isArray(stored)) return null
  return stored
    .flatMap((entry): Favourite[] => {
      const { kind, id, symbol } = (entry ?? {}) as Record<string, unknown> // checked below
      if (typeof id !== 'string') return []
      if (kind === 'wallet' && isAlias(id)) return [{ kind, id }]
      if (kind !== 'token' || !isTokenAddress(id)) return []
      return [{ kind, id, symbol: typeof symbol === 'string' ? symbol : null }]
    })
    .slice(0, MAX_FAVOURITES)
}
