import { Icon } from '../components/icon.tsx'
import { type Favourite, isSameFavourite, useFavourites } from './favourites.ts'
import { shortAddress } from './format.ts'

/** Marks a wallet or a token as a favourite, or removes the mark. */
export function FavouriteButton({ favourite }: { readonly favourite: Favourite }) {
  const [list, toggle] = useFavourites()
  const isOn = list.some((other) => isSameFavourite(other, favourite))
  const label = `Favourite ${favouriteName(favourite)}`
  return (
    <button
      type="button"
      class="bare"
      aria-pressed={isOn}
      aria-label={label}
      title={isOn ? 'Remove from favourites' : 'Add to favourites'}
      onClick={() => toggle(favourite)}
    >
      <Icon name="star" isFilled={isOn} />
    </button>
  )
}

/** Returns the alias of a wallet, or the symbol of a token, else its shortened address. */
export function favouriteName(favourite: Favourite): string {
  return favourite.kind === 'wallet'
    ? favourite.id
    : (favourite.symbol ?? shortAddress(favourite.id))
}
